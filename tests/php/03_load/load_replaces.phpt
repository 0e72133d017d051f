--TEST--
bloom_load() of an existing name replaces it in one step
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_replaces.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$first = bloom_load('f', ['a', 'b'], 0.01);
$during = [];
bloom_load('f', (function () use (&$during) {
    yield 'b';
    yield 'c';
    $during = bloom_maybe_has_many('f', ['a', 'b', 'c', 'd']);
    yield 'd';
})(), 0.001);
var_dump($during === [true, true, false, false]);
var_dump(bloom_maybe_has_many('f', ['a', 'b', 'c', 'd']) === [false, true, true, true]);
$second = bloom_info('f');
var_dump($second['error_rate'], $second['items'], $second['generation'] > $first['generation'], $second['published_at'] >= $first['published_at']);
done();
?>
--EXPECT--
bool(true)
bool(true)
float(0.001)
int(3)
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_ready() is true for a published filter, and quiet for a missing one
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/ready.seg
bloomshm.filter_memory=1M
bloomshm.missing_filter=throw
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_ready('f'));
$during = null;
bloom_load('f', (function () use (&$during) {
    yield 'a';
    $during = bloom_ready('f');
})());
var_dump($during, bloom_ready('f'));
bloom_reserve('g', 10, expansion: 0);
var_dump(bloom_ready('g'));
bloom_clear('g');
var_dump(bloom_ready('g'));
bloom_drop('g');
var_dump(bloom_ready('g'), bloom_status()['missing_answers']);
done();
?>
--EXPECT--
bool(false)
bool(false)
bool(true)
bool(true)
bool(true)
bool(false)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_load(allow_empty: true) publishes an empty filter
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_allow_empty.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a']);
$info = bloom_load('f', [], allow_empty: true);
var_dump($info['keys'], $info['items'], $info['bits_per_key'], $info['fill'], $info['estimated_error_rate']);
var_dump(bloom_maybe_has('f', 'a'), bloom_ready('f'), bloom_add('f', 'b'), bloom_maybe_has('f', 'b'));
$info = bloom_load('g', new EmptyIterator(), allow_empty: true, capacity: 5000, expansion: 0);
var_dump($info['capacity'] >= 5000, bloom_add_many('g', keys('k', 100)), bloom_maybe_has('g', 'x'));
done();
?>
--EXPECT--
int(0)
int(0)
NULL
float(0)
float(0)
bool(false)
bool(true)
bool(true)
bool(true)
bool(true)
int(100)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

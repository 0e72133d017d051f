--TEST--
bloom_rename() moves a filter to another name, atomically
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/rename.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('k', 1000), seed: 'fixed');
$before = bloom_info('f');
$free = free_bytes();
var_dump(bloom_rename('f', 'g'), bloom_list(), count_no('g', keys('k', 1000)), bloom_maybe_has('g', 'x'), bloom_maybe_has('f', 'x'));
$after = bloom_info('g');
var_dump($after['name']);
foreach (['type', 'error_rate', 'capacity', 'items', 'bytes', 'fill', 'hashes', 'partitions', 'layers'] as $key) {
    check_same($before[$key], $after[$key], $key);
}
check_same($free, free_bytes(), 'free bytes');
var_dump(bloom_add('g', 'new'), bloom_maybe_has('g', 'new'));
done();
?>
--EXPECT--
bool(true)
array(1) {
  [0]=>
  string(1) "g"
}
int(0)
bool(false)
bool(true)
string(1) "g"
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_drop() makes the name missing, and gives the memory back
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/drop.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$free = free_bytes();
bloom_load('f', ['a']);
bloom_load('g', ['b']);
var_dump(bloom_drop('f'), bloom_drop('f'), bloom_list(), bloom_info('f'), bloom_ready('f'));
// Missing is maybe again, and another filter is not touched.
var_dump(bloom_maybe_has('f', 'x'), bloom_maybe_has('g', 'b'), bloom_maybe_has('g', 'x'));
bloom_drop('g');
var_dump(free_bytes() === $free, bloom_drop('never was'));
done();
?>
--EXPECT--
bool(true)
bool(false)
array(1) {
  [0]=>
  string(1) "g"
}
NULL
bool(false)
bool(true)
bool(true)
bool(false)
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

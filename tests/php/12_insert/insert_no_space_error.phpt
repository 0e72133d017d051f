--TEST--
bloom_insert() of a filter that does not fit makes none
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/insert_no_space_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_insert('small', ['a']);
$free = free_bytes();
show_thrown(
    fn () => bloom_insert('f', ['a'], 10_000_000),
    fn () => bloom_insert('f', ['a'], 2 ** 40, 0.000001, 0),
);
var_dump(bloom_list(), free_bytes() === $free);
// One that stands is not made: its parameters do not matter.
var_dump(bloom_insert('small', ['b'], 2 ** 40, 0.000001, 0));
done();
?>
--EXPECTF--
BloomShm\Exception NO_SPACE: the filter takes %s bytes), and %s bytes) are free; raise bloomshm.filter_memory%S
BloomShm\Exception NO_SPACE: the filter takes %s bytes), and %s bytes) are free; raise bloomshm.filter_memory%S
array(1) {
  [0]=>
  string(5) "small"
}
bool(true)
array(1) {
  [0]=>
  bool(true)
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

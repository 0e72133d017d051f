--TEST--
bloom_copy() of a missing filter throws NOT_FOUND, without room NO_SPACE
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/copy_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('to', ['a']);
show_thrown(
    fn () => bloom_copy('missing', 'to'),
    fn () => bloom_copy('missing', 'missing'),
);
bloom_reserve('large', 500000, expansion: 0);
bloom_add('large', 'a');
$free = free_bytes();
show_thrown(
    fn () => bloom_copy('large', 'to'),
    fn () => bloom_copy('large', 'new'),
);
check_same($free, free_bytes(), 'free bytes');
var_dump(bloom_list(), bloom_maybe_has('to', 'a'), bloom_maybe_has('to', 'x'), bloom_maybe_has('large', 'a'));
done();
?>
--EXPECTF--
BloomShm\Exception NOT_FOUND: %smissing%s
BloomShm\Exception NOT_FOUND: %smissing%s
BloomShm\Exception NO_SPACE: %s%d%s%d%sbloomshm.filter_memory%S
BloomShm\Exception NO_SPACE: %s%d%s%d%sbloomshm.filter_memory%S
array(2) {
  [0]=>
  string(5) "large"
  [1]=>
  string(2) "to"
}
bool(true)
bool(false)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_reserve() without room throws NO_SPACE with the sizes and the setting
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/reserve_no_space_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('small', 1000, expansion: 0);
bloom_add('small', 'a');
$free = free_bytes();
show_thrown(
    fn () => bloom_reserve('f', 10_000_000, expansion: 0),
    fn () => bloom_reserve('f', 2 ** 40, 0.000001, 0),
);
check_same($free, free_bytes(), 'free bytes');
var_dump(bloom_list(), bloom_ready('f'), bloom_maybe_has('small', 'a'));
done();
?>
--EXPECTF--
BloomShm\Exception NO_SPACE: %s%d%s%d%sbloomshm.filter_memory%S
BloomShm\Exception NO_SPACE: %s%d%s%d%sbloomshm.filter_memory%S
array(1) {
  [0]=>
  string(5) "small"
}
bool(false)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

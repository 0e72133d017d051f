--TEST--
What a sliding filter is not: a window with counts, or with a growth of its own
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/sliding_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

show_thrown(
    fn () => bloom_reserve('f', 10, window: -1),
    fn () => bloom_reserve('f', 10, window: 315_360_001),
    fn () => bloom_reserve('f', 10, window: 60, counting: true),
    fn () => bloom_reserve('f', 10, expansion: 4, window: 60),
    fn () => bloom_reserve('f', 10, expansion: 1, window: 60),
);
bloom_reserve('f', 10, window: 60);
show_thrown(
    fn () => bloom_remove('f', 'a'),
    fn () => bloom_count('f', 'a'),
    fn () => bloom_reserve('huge', 2 ** 40, window: 60),
);
var_dump(bloom_list());
done();
?>
--EXPECTF--
ValueError: bloom_reserve(): Argument #5 ($window) must be %S0%sbetween 1 and 315360000%S
ValueError: bloom_reserve(): Argument #5 ($window) must be %S0%sbetween 1 and 315360000%S
ValueError: bloom_reserve(): Argument #6 ($counting) must be %swindow%S
ValueError: bloom_reserve(): Argument #4 ($expansion) must be 0 or %swindow%S
ValueError: bloom_reserve(): Argument #4 ($expansion) must be %S0%sbetween 2 and 32%S
BloomShm\Exception INCOMPATIBLE: filter "f" does not count%S
BloomShm\Exception INCOMPATIBLE: filter "f" does not count%S
BloomShm\Exception NO_SPACE: %s%d%s%d%sbloomshm.filter_memory%S
array(1) {
  [0]=>
  string(1) "f"
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

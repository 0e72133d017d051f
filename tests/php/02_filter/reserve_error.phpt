--TEST--
bloom_reserve() checks its arguments before anything is touched
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/reserve_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

show_thrown(
    fn () => bloom_reserve('f', 0, expansion: 0),
    fn () => bloom_reserve('f', -1, expansion: 0),
    fn () => bloom_reserve('f', 2 ** 40 + 1, expansion: 0),
    fn () => bloom_reserve('f', 10, 0.0, 0),
    fn () => bloom_reserve('f', 10, -0.01, 0),
    fn () => bloom_reserve('f', 10, 0.500001, 0),
    fn () => bloom_reserve('f', 10, NAN, 0),
    fn () => bloom_reserve('f', 10, INF, 0),
    fn () => bloom_reserve('f', 10, expansion: 1),
    fn () => bloom_reserve('f', 10, expansion: -1),
    fn () => bloom_reserve('f', 10, expansion: 33),
    fn () => bloom_reserve('f', 10, window: -1),
    fn () => bloom_reserve('f', 10, window: 315_360_001),
    fn () => bloom_reserve('f', 10, window: 60, counting: true),
    fn () => bloom_reserve('f', 10, expansion: 3, window: 60),
    fn () => bloom_reserve('f', 10, expansion: 3, counting: true),
    fn () => bloom_reserve('f', 10, expansion: 0, seed: ''),
    fn () => bloom_reserve('f', 10, expansion: 0, seed: str_repeat('s', 65)),
    fn () => bloom_reserve('f', 'many', expansion: 0),
);
var_dump(bloom_list());
done();
?>
--EXPECTF--
ValueError: bloom_reserve(): Argument #2 ($capacity) must be between 1 and 1099511627776%S
ValueError: bloom_reserve(): Argument #2 ($capacity) must be between 1 and 1099511627776%S
ValueError: bloom_reserve(): Argument #2 ($capacity) must be between 1 and 1099511627776%S
ValueError: bloom_reserve(): Argument #3 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_reserve(): Argument #3 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_reserve(): Argument #3 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_reserve(): Argument #3 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_reserve(): Argument #3 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_reserve(): Argument #4 ($expansion) must be %S0%sbetween 2 and 32%S
ValueError: bloom_reserve(): Argument #4 ($expansion) must be %S0%sbetween 2 and 32%S
ValueError: bloom_reserve(): Argument #4 ($expansion) must be %S0%sbetween 2 and 32%S
ValueError: bloom_reserve(): Argument #5 ($window) must be %S0%sbetween 1 and 315360000%S
ValueError: bloom_reserve(): Argument #5 ($window) must be %S0%sbetween 1 and 315360000%S
ValueError: bloom_reserve(): Argument #%d ($%s) %s
ValueError: bloom_reserve(): Argument #4 ($expansion) must be 0 or %swindow%S
ValueError: bloom_reserve(): Argument #4 ($expansion) must be 0 or %scount%S
ValueError: bloom_reserve(): Argument #7 ($seed) must be %s1 and 64 bytes%S
ValueError: bloom_reserve(): Argument #7 ($seed) must be %s1 and 64 bytes%S
TypeError: bloom_reserve(): Argument #2 ($capacity) must be of type int, string given
array(0) {
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

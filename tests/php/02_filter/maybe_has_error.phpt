--TEST--
bloom_maybe_has() with arguments of the wrong type
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/maybe_has_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

show_thrown(
    fn () => bloom_maybe_has('f', []),
    fn () => bloom_maybe_has('f', new stdClass()),
    fn () => bloom_maybe_has([], 'a'),
    fn () => bloom_add('f', []),
    fn () => bloom_maybe_has('f'),
    fn () => bloom_maybe_has('f', 'a', 'b'),
);
?>
--EXPECT--
TypeError: bloom_maybe_has(): Argument #2 ($key) must be of type string, array given
TypeError: bloom_maybe_has(): Argument #2 ($key) must be of type string, stdClass given
TypeError: bloom_maybe_has(): Argument #1 ($filter) must be of type string, array given
TypeError: bloom_add(): Argument #2 ($key) must be of type string, array given
ArgumentCountError: bloom_maybe_has() expects exactly 2 arguments, 1 given
ArgumentCountError: bloom_maybe_has() expects exactly 2 arguments, 3 given
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

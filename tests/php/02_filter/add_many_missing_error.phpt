--TEST--
A bad element is an error for a missing filter too
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/add_many_missing_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

show_thrown(
    fn () => bloom_add_many('missing', ['a', null]),
    fn () => bloom_add_many('missing', (fn () => yield from ['a', null])()),
    fn () => bloom_add_many('missing', ['a', []]),
);
?>
--EXPECTF--
TypeError: bloom_add_many(): Argument #2 ($keys) %s
TypeError: bloom_add_many(): Argument #2 ($keys) %s
TypeError: bloom_add_many(): Argument #2 ($keys) %s
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

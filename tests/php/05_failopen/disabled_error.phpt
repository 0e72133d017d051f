--TEST--
bloomshm.enable=0: a bad argument is a mistake all the same
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/disabled_error.seg
bloomshm.filter_memory=1M
bloomshm.enable=0
--FILE--
<?php
require __DIR__ . '/../helper.inc';

show_thrown(
    fn () => bloom_maybe_has('', 'a'),
    fn () => bloom_maybe_has_many('f', [null]),
    fn () => bloom_add_many('f', ['a', null]),
    fn () => bloom_reserve('f', 0, expansion: 0),
    fn () => bloom_load('f', ['a'], 2.0),
    fn () => bloom_add_many('f', 'a'),
    fn () => bloom_insert('f', [null]),
    fn () => bloom_insert('f', ['a'], 0),
    fn () => bloom_remove('', 'a'),
    fn () => bloom_count('', 'a'),
    fn () => bloom_merge('f', ''),
    fn () => bloom_dump('f', ''),
    fn () => bloom_restore('', scratch()),
);
?>
--EXPECTF--
ValueError: bloom_maybe_has(): Argument #1 ($filter) %s
TypeError: bloom_maybe_has_many(): Argument #2 ($keys) %s
TypeError: bloom_add_many(): Argument #2 ($keys) %s
ValueError: bloom_reserve(): Argument #2 ($capacity) %s
ValueError: bloom_load(): Argument #3 ($error_rate) %s
TypeError: bloom_add_many(): Argument #2 ($keys) %s
TypeError: bloom_insert(): Argument #2 ($keys) %s
ValueError: bloom_insert(): Argument #3 ($capacity) %s
ValueError: bloom_remove(): Argument #1 ($filter) %s
ValueError: bloom_count(): Argument #1 ($filter) %s
ValueError: bloom_merge(): Argument #2 %s
ValueError: bloom_dump(): Argument #2 ($path) %s
ValueError: bloom_restore(): Argument #1 ($filter) %s
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_fetch() and bloom_forget() check their arguments before anything is touched
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a']);
show_thrown(
    fn () => bloom_fetch('', 'a', fn () => print("called\n")),
    fn () => bloom_fetch(str_repeat('f', 64), 'a', fn () => print("called\n")),
    fn () => bloom_fetch("f\0", 'a', fn () => print("called\n")),
    fn () => bloom_fetch('f', 'a', 'no such function'),
    fn () => bloom_fetch('f', 'a', null),
    fn () => bloom_fetch('f', [], fn () => print("called\n")),
    fn () => bloom_fetch('f', 'a', fn () => print("called\n"), -1),
    fn () => bloom_fetch('f', 'a', fn () => print("called\n"), 315360001),
    fn () => bloom_fetch('f', 'a', fn () => print("called\n"), PHP_INT_MAX),
    fn () => bloom_forget('', 'a'),
    fn () => bloom_forget(str_repeat('f', 64), 'a'),
    fn () => bloom_forget("f\0", 'a'),
    fn () => bloom_fetch('f', 'a', fn () => throw new LogicException('thrown by the loader')),
    fn () => bloom_fetch('f', 'a', fn () => STDIN),
    fn () => bloom_fetch('f', 'a', fn () => fn () => 1),
);
var_dump(bloom_cache_info()['records'], bloom_info('f')['false_positives']);
var_dump(bloom_fetch('f', 'a', fn () => 'loaded', 315360000), bloom_fetch('f', 'a', fn () => 'never', 0));
// A name of 63 bytes.
bloom_load(str_repeat('f', 63), ['a']);
var_dump(bloom_fetch(str_repeat('f', 63), 'a', fn () => 'long'), bloom_forget(str_repeat('f', 63), 'a'));
done();
?>
--EXPECTF--
ValueError: bloom_fetch(): Argument #1 ($filter) must be %s
ValueError: bloom_fetch(): Argument #1 ($filter) must be %s
ValueError: bloom_fetch(): Argument #1 ($filter) must be %s
TypeError: bloom_fetch(): Argument #3 ($load) must be a valid callback, %s
TypeError: bloom_fetch(): Argument #3 ($load) must be a valid callback, %s
TypeError: bloom_fetch(): Argument #2 ($key) must be of type string, array given
ValueError: bloom_fetch(): Argument #4 ($ttl) must be %s
ValueError: bloom_fetch(): Argument #4 ($ttl) must be %s
ValueError: bloom_fetch(): Argument #4 ($ttl) must be %s
ValueError: bloom_forget(): Argument #1 ($filter) must be %s
ValueError: bloom_forget(): Argument #1 ($filter) must be %s
ValueError: bloom_forget(): Argument #1 ($filter) must be %s
LogicException: thrown by the loader
BloomShm\Exception INCOMPATIBLE: %S
Exception: Serialization of 'Closure' is not allowed
int(0)
int(0)
string(6) "loaded"
string(6) "loaded"
string(4) "long"
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

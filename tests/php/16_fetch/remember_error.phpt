--TEST--
bloom_cache_remember(): what the loader throws comes out, and nothing is stored
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/remember_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

for ($i = 0; $i < 3; $i++) {
    show_thrown(fn () => bloom_cache_remember('a', fn () => throw new LogicException("thrown by the loader, $i")));
}
var_dump(bloom_cache_has('a'), bloom_cache_info()['records'], bloom_cache_remember('a', fn () => 'loaded'));
show_thrown(
    // It is not called.
    fn () => bloom_cache_remember('a', fn () => throw new LogicException('not reached')),
    fn () => bloom_cache_remember('b', fn () => undefined()),
    fn () => bloom_cache_remember('b', fn (int $key) => $key),
    fn () => bloom_cache_remember('b', fn () => fn () => 1),
    fn () => bloom_cache_remember('b', fn () => STDIN),
    fn () => bloom_cache_remember('b', 'no such function'),
    fn () => bloom_cache_remember('b', null),
    fn () => bloom_cache_remember('b', fn () => 1, -1),
);
var_dump(bloom_cache_has('b'));
// It disturbs no other process: one gets the key at once.
$at = own_time();
echo Child::run('var_dump(bloom_cache_remember("b", fn () => "by another"));');
check(own_time() - $at < 4, 'another process waited');
// What is too large to be kept is returned all the same.
var_dump(strlen(bloom_cache_remember('c', fn () => str_repeat('x', 2 << 20))), bloom_cache_has('c'));
done();
?>
--EXPECTF--
LogicException: thrown by the loader, 0
LogicException: thrown by the loader, 1
LogicException: thrown by the loader, 2
bool(false)
int(0)
string(6) "loaded"
nothing thrown, returned "loaded"
Error: Call to undefined function undefined()
TypeError: %s
Exception: Serialization of 'Closure' is not allowed
BloomShm\Exception INCOMPATIBLE: %S
TypeError: bloom_cache_remember(): Argument #2 ($load) must be a valid callback, %s
TypeError: bloom_cache_remember(): Argument #2 ($load) must be a valid callback, %s
ValueError: bloom_cache_remember(): Argument #3 ($ttl) must be %s
bool(false)
string(10) "by another"
int(2097152)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_fetch_many() and bloom_cache_remember_many(): bad arguments, and loaders that throw or return no array by key
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_many_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a', 'b', 'c', '0', '1']);
$never = fn () => print("called\n");
show_thrown(
    fn () => bloom_fetch_many('', ['a'], $never),
    fn () => bloom_fetch_many('f', ['a', null], $never),
    fn () => bloom_fetch_many('f', ['a', ['b']], $never),
    fn () => bloom_fetch_many('f', ['a'], 'no such function'),
    fn () => bloom_fetch_many('f', ['a'], $never, -1),
    fn () => bloom_fetch_many('f', [], $never, 315360001),
    fn () => bloom_cache_remember_many([STDIN], $never),
    fn () => bloom_cache_remember_many(['a', str_repeat('k', 65536)], $never),
    fn () => bloom_cache_remember_many([], $never, -1),
);
// Each call of the loader that fails leaves no lease: another process loads at once.
$free = function (string $what): void {
    $at = own_time();
    $code = '$load = fn ($keys) => array_fill_keys($keys, "by another");'
        . 'echo json_encode([bloom_fetch_many("f", ["a", "b"], $load), bloom_cache_remember_many(["a", "b"], $load)]);';
    check_same('[["by another","by another"],["by another","by another"]]', Child::run($code), "$what: another process");
    check(own_time() - $at < 4, "$what: another process waited");
    array_map(fn ($key) => bloom_forget('f', $key), ['a', 'b']);
    bloom_cache_delete_many(['a', 'b']);
};
$bad = [
    'null' => fn () => null,
    'false' => fn () => false,
    'a string' => fn () => 'a',
    'an ArrayObject' => fn () => new ArrayObject(['a' => 1]),
    'a generator' => function () { yield 'a' => 1; },
    'a list' => fn () => ['x', 'y'],
    'a list of null' => fn () => [null],
    'it throws' => fn () => throw new LogicException('thrown by the loader'),
    'it asks for an int' => fn (int $keys) => [],
    'it cannot be serialized' => fn () => ['a' => 'stored?', 'b' => fn () => 1],
    'it cannot be stored' => fn () => ['a' => STDIN, 'b' => 1],
];
foreach ($bad as $what => $load) {
    echo "$what:\n";
    show_thrown(fn () => bloom_fetch_many('f', ['a', 'b'], $load), fn () => bloom_cache_remember_many(['a', 'b'], $load));
    check_same(0, bloom_cache_info()['records'], "$what: nothing is stored");
    $free($what);
}
// A list whose indexes were asked for is an array by key; an empty one says that there is nothing.
check_same(['zero', 'one'], bloom_fetch_many('f', ['0', 1], fn () => ['zero', 'one']), 'a list by key');
check_same([null, null], bloom_fetch_many('f', ['a', 'b'], fn () => []), 'an empty array');
check_same(['x' => null], bloom_cache_remember_many(['x' => 'c'], fn () => []), 'an empty array');
check_same([null, 'default'], [bloom_cache_get('c', 'default'), bloom_cache_get('d', 'default')], 'null is stored');
// What was stored before is returned, or not, as a whole.
bloom_cache_set('there', 1);
show_thrown(fn () => bloom_cache_remember_many(['there', 'not there'], fn () => throw new LogicException('of one key')));
// asked, denied, found, loaded, confirmed: each call that failed was asked twice.
bloom_load('f', ['a', 'b']);
try {
    bloom_fetch_many('f', ['a', 'b', 'a'], fn () => throw new LogicException());
} catch (LogicException) {
    echo json_encode(bloom_info('f')['fetches']), "\n";
}
done();
?>
--EXPECTF--
ValueError: bloom_fetch_many(): Argument #1 ($filter) must %s
TypeError: bloom_fetch_many(): Argument #2 ($keys) must %s null given at element 1
TypeError: bloom_fetch_many(): Argument #2 ($keys) must %s array given at element 1
TypeError: bloom_fetch_many(): Argument #3 ($load) must be a valid callback, %s
ValueError: bloom_fetch_many(): Argument #4 ($ttl) must %s
ValueError: bloom_fetch_many(): Argument #4 ($ttl) must %s
TypeError: bloom_cache_remember_many(): Argument #1 ($keys) must %s
ValueError: bloom_cache_remember_many(): Argument #1 ($keys) must contain keys of at most 65535 bytes, one has 65536
ValueError: bloom_cache_remember_many(): Argument #3 ($ttl) must %s
null:
TypeError: bloom_fetch_many(): Argument #3 ($load) must return an array of values by key, null returned
TypeError: bloom_cache_remember_many(): Argument #2 ($load) must return an array of values by key, null returned
false:
TypeError: bloom_fetch_many(): Argument #3 ($load) must return an array of values by key, bool returned
TypeError: bloom_cache_remember_many(): Argument #2 ($load) must return an array of values by key, bool returned
a string:
TypeError: bloom_fetch_many(): Argument #3 ($load) must return an array of values by key, string returned
TypeError: bloom_cache_remember_many(): Argument #2 ($load) must return an array of values by key, string returned
an ArrayObject:
TypeError: bloom_fetch_many(): Argument #3 ($load) must return an array of values by key, ArrayObject returned
TypeError: bloom_cache_remember_many(): Argument #2 ($load) must return an array of values by key, ArrayObject returned
a generator:
TypeError: bloom_fetch_many(): Argument #3 ($load) must return an array of values by key, Generator returned
TypeError: bloom_cache_remember_many(): Argument #2 ($load) must return an array of values by key, Generator returned
a list:
TypeError: bloom_fetch_many(): Argument #3 ($load) must return an array of values by key, a list was returned, and no key is an index of it
TypeError: bloom_cache_remember_many(): Argument #2 ($load) must return an array of values by key, a list was returned, and no key is an index of it
a list of null:
TypeError: bloom_fetch_many(): Argument #3 ($load) must return an array of values by key, a list was returned, and no key is an index of it
TypeError: bloom_cache_remember_many(): Argument #2 ($load) must return an array of values by key, a list was returned, and no key is an index of it
it throws:
LogicException: thrown by the loader
LogicException: thrown by the loader
it asks for an int:
TypeError: {closure%S}(): Argument #1 ($keys) must be of type int, array given
TypeError: {closure%S}(): Argument #1 ($keys) must be of type int, array given
it cannot be serialized:
Exception: Serialization of 'Closure' is not allowed
Exception: Serialization of 'Closure' is not allowed
it cannot be stored:
BloomShm\Exception INCOMPATIBLE: a value of type resource cannot be stored
BloomShm\Exception INCOMPATIBLE: a value of type resource cannot be stored
LogicException: of one key
{"asked":3,"denied":0,"found":0,"loaded":0,"confirmed":0}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

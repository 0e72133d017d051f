--TEST--
A key of more than 65,535 bytes is a ValueError, and nothing is touched
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/keys_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$calls = [
    'get' => fn (string $key) => bloom_cache_get($key, 'default'),
    'get_many' => fn (string $key) => bloom_cache_get_many(['a', $key]),
    'set' => fn (string $key) => bloom_cache_set($key, 1),
    'set_many' => fn (string $key) => bloom_cache_set_many(['b' => 1, $key => 1]),
    'add' => fn (string $key) => bloom_cache_add($key, 1),
    'replace' => fn (string $key) => bloom_cache_replace($key, 1),
    'has' => fn (string $key) => bloom_cache_has($key),
    'delete' => fn (string $key) => bloom_cache_delete($key),
    'delete_many' => fn (string $key) => bloom_cache_delete_many(['a', $key]),
    'increment' => fn (string $key) => bloom_cache_increment($key),
    'decrement' => fn (string $key) => bloom_cache_decrement($key),
    'cas' => fn (string $key) => bloom_cache_cas($key, null, 1),
    'append' => fn (string $key) => bloom_cache_append($key, 'x'),
    'touch' => fn (string $key) => bloom_cache_touch($key, 0),
    'remember' => fn (string $key) => bloom_cache_remember($key, fn () => print("called\n")),
];

bloom_cache_set('a', 'stays');
foreach ($calls as $call) {
    echo thrown_by(fn () => $call(str_repeat('k', 65536))), "\n";
}
check(str_starts_with(thrown_by(fn () => bloom_cache_set(str_repeat('k', 1 << 20), 1)), 'ValueError'), '1 MB');
var_dump(bloom_cache_info()['records'], bloom_cache_get('a'), bloom_cache_has('b'));
done();
?>
--EXPECTF--
ValueError: bloom_cache_get(): Argument #1 ($key) must %s65535 bytes%S
ValueError: bloom_cache_get_many(): Argument #1 ($keys) must %s65535 bytes%S
ValueError: bloom_cache_set(): Argument #1 ($key) must %s65535 bytes%S
ValueError: bloom_cache_set_many(): Argument #1 ($values) must %s65535 bytes%S
ValueError: bloom_cache_add(): Argument #1 ($key) must %s65535 bytes%S
ValueError: bloom_cache_replace(): Argument #1 ($key) must %s65535 bytes%S
ValueError: bloom_cache_has(): Argument #1 ($key) must %s65535 bytes%S
ValueError: bloom_cache_delete(): Argument #1 ($key) must %s65535 bytes%S
ValueError: bloom_cache_delete_many(): Argument #1 ($keys) must %s65535 bytes%S
ValueError: bloom_cache_increment(): Argument #1 ($key) must %s65535 bytes%S
ValueError: bloom_cache_decrement(): Argument #1 ($key) must %s65535 bytes%S
ValueError: bloom_cache_cas(): Argument #1 ($key) must %s65535 bytes%S
ValueError: bloom_cache_append(): Argument #1 ($key) must %s65535 bytes%S
ValueError: bloom_cache_touch(): Argument #1 ($key) must %s65535 bytes%S
ValueError: bloom_cache_remember(): Argument #1 ($key) must %s65535 bytes%S
int(1)
string(5) "stays"
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

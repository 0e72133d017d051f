--TEST--
A ttl below 0 or above 315,360,000 is a ValueError, and nothing is touched
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/ttl_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_cache_set('k', 1);
$calls = [
    fn (int $ttl) => bloom_cache_set('k', 2, $ttl),
    fn (int $ttl) => bloom_cache_set_many(['k' => 2], $ttl),
    fn (int $ttl) => bloom_cache_add('new', 2, $ttl),
    fn (int $ttl) => bloom_cache_replace('k', 2, $ttl),
    fn (int $ttl) => bloom_cache_increment('k', 1, 0, $ttl),
    fn (int $ttl) => bloom_cache_increment('k', 1, 0, $ttl, false),
    fn (int $ttl) => bloom_cache_decrement('k', 1, 0, $ttl),
    fn (int $ttl) => bloom_cache_cas('k', 1, 2, $ttl),
    fn (int $ttl) => bloom_cache_touch('k', $ttl),
    fn (int $ttl) => bloom_cache_remember('new', fn () => print("called\n"), $ttl),
    fn (int $ttl) => bloom_cache_remember_many(['new'], fn () => print("called\n"), $ttl),
];
foreach ($calls as $i => $call) {
    echo thrown_by(fn () => $call(-1)), "\n";
    foreach ([PHP_INT_MIN, 315360001, 2 ** 32, 2 ** 32 + 1, PHP_INT_MAX] as $ttl) {
        check(str_starts_with(thrown_by(fn () => $call($ttl)), 'ValueError: bloom_cache_'), "call $i with $ttl");
    }
}
var_dump(bloom_cache_get('k'), bloom_cache_info()['records']);
// The longest is allowed.
$longest = 315360000;
var_dump(
    bloom_cache_set('k', 1, $longest),
    bloom_cache_set_many(['l' => 1], $longest),
    bloom_cache_add('m', 1, $longest),
    bloom_cache_replace('k', 1, $longest),
    bloom_cache_increment('k', 1, 0, $longest),
    bloom_cache_decrement('n', 1, 0, $longest),
    bloom_cache_cas('k', 2, 3, $longest),
    bloom_cache_touch('k', $longest),
    bloom_cache_remember('o', fn () => 'loaded', $longest),
);
echo json_encode(bloom_cache_get_many(['k', 'l', 'm', 'n', 'o'])), "\n";
done();
?>
--EXPECTF--
ValueError: bloom_cache_set(): Argument #3 ($ttl) must be 0 %s 1 and 315360000%S
ValueError: bloom_cache_set_many(): Argument #2 ($ttl) must be 0 %s 1 and 315360000%S
ValueError: bloom_cache_add(): Argument #3 ($ttl) must be 0 %s 1 and 315360000%S
ValueError: bloom_cache_replace(): Argument #3 ($ttl) must be 0 %s 1 and 315360000%S
ValueError: bloom_cache_increment(): Argument #4 ($ttl) must be 0 %s 1 and 315360000%S
ValueError: bloom_cache_increment(): Argument #4 ($ttl) must be 0 %s 1 and 315360000%S
ValueError: bloom_cache_decrement(): Argument #4 ($ttl) must be 0 %s 1 and 315360000%S
ValueError: bloom_cache_cas(): Argument #4 ($ttl) must be 0 %s 1 and 315360000%S
ValueError: bloom_cache_touch(): Argument #2 ($ttl) must be 0 %s 1 and 315360000%S
ValueError: bloom_cache_remember(): Argument #3 ($ttl) must be 0 %s 1 and 315360000%S
ValueError: bloom_cache_remember_many(): Argument #3 ($ttl) must be 0 %s 1 and 315360000%S
int(1)
int(1)
bool(true)
int(1)
bool(true)
bool(true)
int(2)
int(-1)
bool(true)
bool(true)
string(6) "loaded"
{"k":3,"l":1,"m":1,"n":-1,"o":"loaded"}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

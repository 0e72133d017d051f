--TEST--
The record store is not part of this version
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/cache_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$cursor = 0;
$calls = [
    fn () => bloom_fetch('f', 'a', fn () => print("called\n")),
    fn () => bloom_forget('f', 'a'),
    fn () => bloom_cache_get('a'),
    fn () => bloom_cache_get_many(['a']),
    fn () => bloom_cache_set('a', 1),
    fn () => bloom_cache_set_many(['a' => 1]),
    fn () => bloom_cache_add('a', 1),
    fn () => bloom_cache_replace('a', 1),
    fn () => bloom_cache_has('a'),
    fn () => bloom_cache_delete('a'),
    fn () => bloom_cache_delete_many(['a']),
    fn () => bloom_cache_increment('a'),
    fn () => bloom_cache_decrement('a'),
    fn () => bloom_cache_cas('a', 1, 2),
    fn () => bloom_cache_append('a', 'b'),
    fn () => bloom_cache_touch('a', 1),
    fn () => bloom_cache_remember('a', fn () => print("called\n")),
    fn () => bloom_cache_pop_oldest(),
    function () use (&$cursor) {
        return bloom_cache_scan($cursor);
    },
    fn () => bloom_cache_clear(),
    fn () => bloom_cache_dump(scratch()),
    fn () => bloom_cache_restore(scratch()),
    fn () => bloom_cache_info(),
];
foreach ($calls as $i => $call) {
    $thrown = thrown_by($call);
    check(preg_match('/^BloomShm.Exception UNAVAILABLE: bloom_\w+\(\).* not part of this version/', $thrown) === 1, "call $i: $thrown");
}
var_dump(count($calls), file_exists(scratch()));
?>
--EXPECT--
int(23)
bool(false)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

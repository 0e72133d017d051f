--TEST--
bloom_fetch(): its records belong to filter and key, and share nothing with others
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_namespaces.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach (['f', 'g', 'a', 'ab', 'abc'] as $filter) {
    bloom_load($filter, ['k', 'c', 'bc', 'b', '', 'abc']);
}
$fetch = fn (string $filter, string $key) => bloom_fetch($filter, $key, fn () => "$filter/$key");
foreach (['f', 'g', 'a', 'ab', 'abc'] as $filter) {
    foreach (['k', 'c', 'bc', 'b', '', 'abc'] as $key) {
        check_same("$filter/$key", $fetch($filter, $key), "$filter/$key");
    }
}
check_same(30, bloom_cache_info()['records'], 'records');
// None of them is a bloom_cache_* key, however it may be written.
foreach (['k', 'c', '', 'f', 'fk', "f\0k", "\1fk", "\2abc", "f/k", "\1f\1k"] as $key) {
    check(!bloom_cache_has($key), bin2hex($key) . ' is absent');
    bloom_cache_set($key, 'cache');
    bloom_cache_append($key, '.');
}
foreach (['f', 'g', 'a', 'ab', 'abc'] as $filter) {
    foreach (['k', 'c', 'bc', 'b', '', 'abc'] as $key) {
        check_same("$filter/$key", bloom_fetch($filter, $key, fn () => 'asked'), "$filter/$key is still what it was");
    }
}
foreach (['k', 'c', '', 'f', 'fk', "f\0k", "\1fk", "\2abc", "f/k", "\1f\1k"] as $key) {
    check_same('cache.', bloom_cache_get($key), bin2hex($key));
}
// Not in scans, dumps and pops.
bloom_cache_delete_many(['k', 'c', '', 'f', 'fk', "f\0k", "\1fk", "\2abc", "f/k", "\1f\1k"]);
$cursor = 0;
do {
    check_same([], bloom_cache_scan($cursor), 'scan');
} while ($cursor !== 0);
check_same([0, null, 30], [bloom_cache_dump(scratch()), bloom_cache_pop_oldest(), bloom_cache_info()['records']], 'dump and pop');
// 123 is "123".
bloom_add('f', '123');
bloom_fetch('f', 123, fn () => 'number');
var_dump(bloom_fetch('f', '123', fn () => 'string'));
done();
?>
--EXPECT--
string(6) "number"
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
Any byte string of up to 65,535 bytes is a key
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/keys.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$keys = [
    '', "\0", "\0\0", ' ', 'a', 'A', "a\0", "a\0b", "a\0c", "\xff\xfe", 'ツーリング', '0', '00', '-1', '1.0', "\n",
    str_repeat('k', 255), str_repeat('k', 256), str_repeat('k', 257), str_repeat('k', 4096),
    str_repeat('k', 65534), str_repeat('k', 65535), str_repeat('k', 65534) . 'l', 'l' . str_repeat('k', 65534),
    str_repeat("\0", 65535),
];
foreach ($keys as $i => $key) {
    check(!bloom_cache_has($key), "key $i is not there yet");
    check(bloom_cache_set($key, $i), "key $i is stored");
}
foreach ($keys as $i => $key) {
    check_same($i, bloom_cache_get($key), "the value of key $i");
}
check_same(count($keys), bloom_cache_info()['records'], 'records');
foreach ($keys as $i => $key) {
    check(bloom_cache_delete($key) && !bloom_cache_has($key), "key $i is removed");
    check_same(count($keys) - $i - 1, bloom_cache_info()['records'], 'records');
}
// The bytes of (string) $key count.
bloom_cache_set('123', 'number');
var_dump(bloom_cache_get(123), bloom_cache_get('0123'), bloom_cache_get('123 '));
done();
?>
--EXPECT--
string(6) "number"
NULL
NULL
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

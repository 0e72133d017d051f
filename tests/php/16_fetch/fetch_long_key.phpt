--TEST--
bloom_fetch(): a key of more than 65,535 bytes works, and is not kept
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_long_key.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$keys = [str_repeat('k', 65536), str_repeat('k', 1 << 20)];
bloom_load('f', [...$keys, str_repeat('k', 60000)]);
foreach ($keys as $key) {
    $calls = 0;
    for ($i = 1; $i <= 3; $i++) {
        check_same('value', bloom_fetch('f', $key, function (string $got) use ($key, &$calls) {
            $calls++;
            return $got === $key ? 'value' : 'another key';
        }), 'the value');
        check_same($i, $calls, 'calls');
        check_same(null, bloom_fetch('f', $key, fn () => null), 'nothing');
    }
    check_same(false, bloom_forget('f', $key), 'bloom_forget()');
    check_same(null, bloom_fetch('f', $key . 'absent', fn () => 'asked'), 'a key that the filter denies');
    bloom_add('f', $key);
}
check_same(0, bloom_cache_info()['records'], 'records');
check_same(6, bloom_info('f')['false_positives'], 'false positives');
$key = str_repeat('k', 60000);
var_dump(bloom_fetch('f', $key, fn () => 'kept'), bloom_fetch('f', $key, fn () => 'asked'), bloom_forget('f', $key));
done();
?>
--EXPECT--
string(4) "kept"
string(4) "kept"
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

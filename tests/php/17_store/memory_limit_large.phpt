--TEST--
A list of large values that meets memory_limit ends as any allocation does: shutdown functions are called
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/memory_limit_large.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=96M
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') { die('skip needs the memory manager of PHP'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

for ($i = 0; $i < 72; $i++) {
    bloom_cache_set("k$i", str_repeat(chr(65 + $i % 26), 1 << 20));
}
$calls = [
    'get_many' => 'bloom_cache_get_many(array_map(fn ($i) => "k$i", range(0, 71)));',
    'scan' => '$c = 0; bloom_cache_scan($c, 1000);',
    'set_many' => 'bloom_cache_set_many(array_fill_keys(range(0, 199), range(0, 20000)));',
];
foreach ($calls as $name => $call) {
    // Newer PHPs let a function go on until it returns, and end the process at twice the limit. In older ones what was read
    // still counts as the shutdown function runs.
    $said = Child::run('register_shutdown_function(fn () => ini_set("memory_limit", "64M") && print(count(bloom_cache_get_many(["k1", "k2"])) . " ended\n"));' . $call . 'echo "not reached\n";',
        ['memory_limit' => '16M', 'display_errors' => '1', 'log_errors' => '0']);
    check(preg_match('/Allowed memory size of \d+ bytes exhausted/', $said) === 1, "$name: $said");
    check(str_ends_with($said, "2 ended\n") && !str_contains($said, 'not reached'), "$name: $said");
}
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

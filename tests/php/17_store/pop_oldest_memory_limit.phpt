--TEST--
bloom_cache_pop_oldest(): a value that does not fit into memory_limit stays in the store
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/pop_oldest_memory_limit.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=64M
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') { die('skip needs the memory manager of PHP'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$values = ['string' => str_repeat('x', 12 << 20), 'array' => [str_repeat('y', 12 << 20)]];
foreach ($values as $key => $value) {
    bloom_cache_set($key, $value);
    $said = Child::run('bloom_cache_pop_oldest(); echo "not reached";',
        ['memory_limit' => '8M', 'display_errors' => '1', 'log_errors' => '0']);
    check(preg_match('/Allowed memory size of \d+ bytes exhausted/', $said) === 1, "$key: $said");
    check(!str_contains($said, 'not reached'), "$key: $said");
    check(bloom_cache_pop_oldest() === [$key, $value], "$key is still there");
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

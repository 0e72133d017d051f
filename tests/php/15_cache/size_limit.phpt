--TEST--
Key and value together may be a quarter of the store, to the byte
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/size_limit.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$limit = 1 << 20;
foreach (['k', 'key', str_repeat('k', 65535)] as $key) {
    $value = random_bytes($limit - strlen($key));
    check(bloom_cache_set($key, $value), 'the limit with a key of ' . strlen($key));
    check(bloom_cache_get($key) === $value, 'what is stored');
    check(!bloom_cache_set($key, $value . 'x'), 'a byte more with a key of ' . strlen($key));
    check(!bloom_cache_has($key), 'what was there is removed');
}
check_same(3, bloom_cache_info()['rejected'], 'rejected');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

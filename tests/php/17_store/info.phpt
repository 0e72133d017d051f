--TEST--
bloom_cache_info(): its keys in their order, and what they count
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/info.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

echo implode(', ', array_keys(bloom_cache_info())), "\n";
foreach (bloom_cache_info() as $name => $value) {
    check(is_int($value) && $value >= 0, "$name is a number");
}
create_segment();
$empty = bloom_cache_info();
check_same(4 << 20, $empty['bytes_total'], 'bytes_total');
check_same([0, 0, 0, 0, 0, 0, 0, 0, 0], array_values(array_intersect_key($empty, array_flip([
    'records', 'data_bytes', 'hits', 'misses', 'sets', 'evictions', 'expired', 'rejected', 'lock_timeouts',
]))), 'of an empty store');
check($empty['shards'] > 0 && $empty['bytes_used'] <= $empty['bytes_total'], 'shards and bytes');

bloom_cache_set('abc', 'defg');
bloom_cache_set_many(['b' => 1, 'c' => null]);
$info = bloom_cache_info();
check_same([3, 3], [$info['records'], $info['sets']], 'records and sets');
check($info['data_bytes'] > $empty['data_bytes'] && $info['data_bytes'] <= $info['bytes_used'], 'data_bytes');

// Hits and misses: get, get_many and remember; not has, scan and the like.
bloom_cache_get('abc');
bloom_cache_get('absent');
bloom_cache_get_many(['abc', 'b', 'absent 1', 'absent 2', 'absent 3']);
bloom_cache_remember('abc', fn () => 1);
$cursor = 0;
bloom_cache_has('abc');
bloom_cache_has('absent');
bloom_cache_scan($cursor);
bloom_cache_delete('absent');
$info = bloom_cache_info();
check_same([4, 4], [$info['hits'], $info['misses']], 'hits and misses');
bloom_cache_remember('new', fn () => 1);
bloom_cache_remember('new', fn () => 1);
$info = bloom_cache_info();
check_same([5, 5], [$info['hits'], $info['misses']], 'hits and misses of remember');
bloom_cache_delete_many(['abc', 'b', 'c', 'new']);
$info = bloom_cache_info();
check_same([0, 0, 0], [$info['records'], $info['data_bytes'], $info['evictions']], 'after all were removed');
// They are the segment's, not this process's.
check_same(json_encode($info), Child::run('echo json_encode(bloom_cache_info());'), 'in another process');
check_same(4 << 20, bloom_status()['cache_bytes'], 'cache_bytes of bloom_status()');
done();
?>
--EXPECT--
records, max_records, bytes_used, bytes_total, data_bytes, hits, misses, sets, evictions, expired, rejected, lock_timeouts, repairs, shards
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

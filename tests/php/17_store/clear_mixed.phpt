--TEST--
bloom_cache_clear() leaves nothing, whatever the sizes of the records are
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/clear_mixed.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mt_srand($seed = 21);
echo "seed $seed\n";
foreach (['', 'key '] as $prefix) {
    for ($i = 0; $i < 1500; $i++) {
        $size = mt_rand(0, 9) === 0 ? mt_rand(5_000, 100_000) : mt_rand(0, 800);
        bloom_cache_set("key $i", str_repeat('x', $size));
        if ($i % 3 === 0) {
            bloom_cache_delete('key ' . mt_rand(0, $i));
        }
    }
    $records = bloom_cache_info()['records'];
    check($records > 100, 'records');
    check_same($records, bloom_cache_clear($prefix), 'cleared');
    check_same(0, bloom_cache_info()['records'], 'left');
    check_same(0, count(array_filter(bloom_cache_get_many(keys('key ', 1500)), fn ($value) => $value !== null)), 'still there');
    check_same(0, bloom_cache_clear(), 'cleared the second time');
}
done();
?>
--EXPECTF--
seed %d
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

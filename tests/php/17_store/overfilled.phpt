--TEST--
A store that is filled many times over stays within its bytes, and the newest record is there
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/overfilled.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mt_srand($seed = 20);
echo "seed $seed\n";
$evictions = 0;
for ($i = 0; $i < 30000; $i++) {
    $size = match (mt_rand(0, 99)) {
        0 => mt_rand(50_000, 500_000),
        1, 2, 3, 4, 5 => mt_rand(5_000, 50_000),
        default => mt_rand(0, 800),
    };
    $key = 'key ' . mt_rand(0, 20000);
    $value = str_repeat(chr($i % 256), $size);
    check(bloom_cache_set($key, $value), "set $i");
    check(bloom_cache_get($key) === $value, "the newest, $i");
    if ($i % 100 === 0) {
        $info = bloom_cache_info();
        check($info['bytes_used'] <= $info['bytes_total'] && $info['data_bytes'] <= $info['bytes_used'], "bytes after $i");
        check($info['evictions'] >= $evictions, 'evictions');
        $evictions = $info['evictions'];
    }
    if ($i % 5000 === 0) {
        check_same([], bloom_verify(), "sound after $i");
    }
}
$info = bloom_cache_info();
check($info['evictions'] > 1000 && $info['rejected'] === 0, 'evictions and rejected');
check($info['data_bytes'] > $info['bytes_total'] / 2, 'more than half of the store is data: ' . $info['data_bytes']);
check_same($info['records'], bloom_cache_clear(), 'records');
check_same(0, bloom_cache_info()['records'], 'records of a cleared store');
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

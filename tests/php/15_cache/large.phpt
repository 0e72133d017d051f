--TEST--
Values of 1 MB and 7 MB in a store of 32M come and go among small ones
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/large.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=32M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mt_srand(4711);
$value = fn (int $size, int $seed) => str_repeat(hash('sha512', "$size/$seed", true), intdiv($size, 64)) . str_repeat('z', $size % 64);
bloom_cache_set('1 MB', $value(1_000_000, 1));
bloom_cache_set('7 MB', $value(7_000_000, 1));
check(bloom_cache_get('1 MB') === $value(1_000_000, 1), '1 MB');
check(bloom_cache_get('7 MB') === $value(7_000_000, 1), '7 MB');
bloom_cache_set('array', [$value(3_000_000, 2), $value(3_000_000, 3)]);
check(bloom_cache_get('array') === [$value(3_000_000, 2), $value(3_000_000, 3)], 'a large array');
echo Child::run(<<<'PHP'
    $value = fn (int $size, int $seed) => str_repeat(hash('sha512', "$size/$seed", true), intdiv($size, 64)) . str_repeat('z', $size % 64);
    var_dump(bloom_cache_get('7 MB') === $value(7_000_000, 1), bloom_cache_replace('7 MB', $value(7_100_001, 2)));
    PHP);
check(bloom_cache_get('7 MB') === $value(7_100_001, 2), '7 MB, replaced by another process');
// Whatever is stored, it is all there or not at all, and the newest is always there.
$sizes = [];
for ($i = 0; $i < 300; $i++) {
    $size = mt_rand(0, 9) === 0 ? mt_rand(1_000_000, 7_000_000) : mt_rand(0, 100_000);
    $key = 'key ' . mt_rand(0, 60);
    check(bloom_cache_set($key, $value($size, $i)), "$size bytes are stored");
    $sizes[$key] = [$size, $i];
    check(bloom_cache_get($key) === $value($size, $i), "$size bytes");
    $other = array_rand($sizes);
    $got = bloom_cache_get($other);
    check($got === null || $got === $value(...$sizes[$other]), 'another one');
    $info = bloom_cache_info();
    check($info['bytes_used'] <= $info['bytes_total'], 'bytes');
}
check_same(0, $info['rejected'], 'rejected');
check(bloom_verify() === [], 'sound');
bloom_cache_clear();
check(bloom_cache_set('7 MB', $value(7_000_000, 1)), 'there is room again');
done();
?>
--EXPECT--
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

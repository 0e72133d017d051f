--TEST--
bloom_cache_scan() while others insert and delete: what stays untouched comes exactly once
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/scan_changing.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=16M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mt_srand($seed = 9);
echo "seed $seed\n";
foreach ([1, 7, 100] as $count) {
    bloom_cache_clear();
    $stays = keys('stays ', 1000);
    foreach ($stays as $i => $key) {
        bloom_cache_set($key, $i);
        bloom_cache_set("goes $i", $i);
    }
    $seen = [];
    $cursor = 0;
    $steps = 0;
    do {
        foreach (bloom_cache_scan($cursor, $count) as $key => $value) {
            if (str_starts_with($key, 'stays ')) {
                $seen[$key] = ($seen[$key] ?? 0) + 1;
                check_same("stays $value", $key, 'a value');
            }
        }
        // Reads, and writes of others, in all sizes: the index and the records move. The store has room for all.
        for ($i = 0; $i < 3; $i++) {
            bloom_cache_delete('goes ' . mt_rand(0, 999));
            bloom_cache_set('new ' . mt_rand(0, 5000), str_repeat('x', mt_rand(0, 1000)));
            bloom_cache_get('stays ' . mt_rand(0, 999));
        }
        if ($steps++ % 50 === 0) {
            bloom_cache_set_many(array_fill_keys(keys("burst $steps ", 100), 'y'));
        }
    } while ($cursor !== 0 && $steps < 20000);
    check_same(0, $cursor, "count $count: the end");
    check_same([], array_diff($stays, array_keys($seen)), "count $count: never seen");
    check_same([], array_filter($seen, fn (int $times) => $times !== 1), "count $count: seen more than once");
    check_same(0, bloom_cache_info()['evictions'], 'evictions');
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

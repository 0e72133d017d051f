--TEST--
The largest record fits at any time, whatever the store is full of
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/size_limit_full.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mt_srand($seed = 12);
echo "seed $seed\n";
foreach (['1M', '2M', '8M'] as $memory) {
    echo "$memory: ", Child::run("mt_srand($seed);" . <<<'PHP'
        create_segment();
        $limit = bloom_cache_info()['bytes_total'] / 4;
        for ($round = 0; $round < 12; $round++) {
            // Full of one size, of another, or of all.
            for ($i = 0; $i < 3000; $i++) {
                $size = [8, 100, 700, 3000, 20000, mt_rand(0, 5000)][$round % 6];
                check(bloom_cache_set("key $round $i", str_repeat('x', $size)), "$size bytes, round $round");
                check(bloom_cache_has("key $round $i"), 'the newest');
            }
            $value = random_bytes($limit - 4);
            check(bloom_cache_set('huge', $value), "the largest, round $round");
            check(bloom_cache_get('huge') === $value, "what is stored, round $round");
        }
        // Several of them, one after the other.
        for ($i = 10; $i < 30; $i++) {
            $value = str_repeat(chr($i), $limit - 6);
            check(bloom_cache_set("huge$i", $value) && bloom_cache_get("huge$i") === $value, "the largest, $i");
        }
        check_same(0, bloom_cache_info()['rejected'], 'rejected');
        check(bloom_cache_info()['bytes_used'] <= bloom_cache_info()['bytes_total'], 'bytes');
        check_same([], bloom_verify(), 'sound');
        echo bloom_cache_info()['bytes_total'], "\n";
        PHP, ['bloomshm.path' => scratch(".$memory"), 'bloomshm.cache_memory' => $memory]);
}
echo "done\n";
?>
--EXPECTF--
seed %d
1M: 1048576
2M: 2097152
8M: 8388608
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

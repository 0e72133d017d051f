--TEST--
bloomshm.cache_records: N records fit in N, one more evicts one, and the newest is always there
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/cache_records.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ([1, 2, 7, 64, 100, 1000] as $limit) {
    echo Child::run(<<<'PHP'
        $limit = (int) ini_get('bloomshm.cache_records');
        create_segment();
        check_same($limit, bloom_cache_info()['max_records'], 'max_records');
        for ($i = 1; $i <= $limit; $i++) {
            check(bloom_cache_set("key $i", $i), "$limit: set of key $i");
            check_same($i, bloom_cache_info()['records'], "$limit: records after $i");
        }
        foreach (bloom_cache_get_many(array_map(fn ($i) => "key $i", range(1, $limit))) as $key => $value) {
            check_same($key, "key $value", "$limit: one of the first");
        }
        check_same(0, bloom_cache_info()['evictions'], "$limit: evictions");
        for ($i = $limit + 1; $i <= 3 * $limit + 20; $i++) {
            check(bloom_cache_set("key $i", $i), "$limit: set of key $i");
            check_same($i, bloom_cache_get("key $i"), "$limit: the newest");
            $info = bloom_cache_info();
            check_same([$limit, $i - $limit], [$info['records'], $info['evictions']], "$limit: records and evictions after $i");
        }
        // To replace one takes no other's place, and what was removed gives its place back.
        $i--;
        bloom_cache_set("key $i", 'replaced');
        bloom_cache_increment('counter');
        $evictions = bloom_cache_info()['evictions'];
        bloom_cache_increment('counter');
        bloom_cache_delete('counter');
        check_same($limit - 1, bloom_cache_info()['records'], "$limit: after a delete");
        bloom_cache_append('text', 'x');
        check_same([$limit, $evictions], [bloom_cache_info()['records'], bloom_cache_info()['evictions']], "$limit: in its place");
        check_same([], bloom_verify(), "$limit: sound");
        PHP, ['bloomshm.path' => scratch(".$limit"), 'bloomshm.cache_records' => $limit]);
}
echo "done\n";
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

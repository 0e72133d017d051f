--TEST--
bloom_cache_restore() into a store for fewer records, or bytes, keeps the newest
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/restore_smaller.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// Of a hundred the order is exact; of many it is about so.
foreach ([[100, 1, 0], [100, 10, 0], [100, 50, 0], [2000, 200, 100]] as [$count, $limit, $blur]) {
    for ($i = 0; $i < $count; $i++) {
        bloom_cache_set("key $i", $i);
    }
    bloom_cache_get('key 17');
    bloom_cache_touch('key 3', 0);
    check_same($count, bloom_cache_dump(scratch()), 'dumped');
    echo $limit, ': ', Child::run("[\$count, \$limit, \$blur] = [$count, $limit, $blur];" . <<<'PHP'
        bloom_cache_restore(preg_replace('/\.\d+$/', '', segment()));
        check_same($limit, bloom_cache_info()['records'], 'records');
        $popped = [];
        while (($pair = bloom_cache_pop_oldest()) !== null) {
            $popped[] = $pair[0];
        }
        $newest = [...array_map(fn ($i) => "key $i", range($count - $limit - $blur, $count - 1)), 'key 17', 'key 3'];
        if ($blur === 0) {
            check_same(array_slice($newest, -$limit), $popped, 'the newest');
        } else {
            check_same([], array_values(array_diff($popped, $newest)), 'not of the newest');
            check_same([], array_diff(['key 17', 'key 3'], $limit > 1 ? $popped : ['key 17', ...$popped]), 'the very newest');
        }
        check_same($limit, count($popped), 'popped');
        echo count($popped), "\n";
        PHP, ['bloomshm.path' => scratch(".$count$limit"), 'bloomshm.cache_records' => $limit]);
    bloom_cache_delete_many(keys('key ', $count));
}
// Fewer bytes: the newest are among those that stay.
for ($i = 0; $i < 300; $i++) {
    bloom_cache_set("key $i", str_repeat('x', 10000));
}
check_same(300, bloom_cache_dump(scratch()), 'dumped');
echo Child::run(<<<'PHP'
    bloom_cache_restore(preg_replace('/\.\d+$/', '', segment()));
    $there = array_filter(bloom_cache_get_many(keys('key ', 300)), fn ($value) => $value !== null);
    check(count($there) > 40 && count($there) < 110, 'how many stay: ' . count($there));
    check(isset($there['key 299'], $there['key 290'], $there['key 270']) && !isset($there['key 0'], $there['key 10']), 'the newest stay');
    check(bloom_cache_info()['bytes_used'] <= bloom_cache_info()['bytes_total'], 'bytes');
    check_same([], bloom_verify(), 'sound');
    PHP, ['bloomshm.path' => scratch('.1000'), 'bloomshm.cache_memory' => '1M']);
done();
?>
--EXPECT--
1: 1
10: 10
50: 50
200: 200
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

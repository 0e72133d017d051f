--TEST--
bloom_cache_scan() and bloom_cache_dump() lose no untouched record while others write in all sizes
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/scan_concurrent.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=64M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$stays = [];
for ($i = 0; $i < 1000; $i++) {
    $stays["stays $i"] = str_repeat(chr($i % 256), $i % 700);
}
bloom_cache_set_many($stays);
// The store has room for all, so nothing is evicted.
$writer = <<<'PHP'
    mt_srand((int) fgets(STDIN));
    $me = getmypid();
    while (going()) {
        for ($i = 0; $i < 200; $i++) {
            bloom_cache_set("$me " . mt_rand(0, 200), str_repeat('x', mt_rand(0, 9) === 0 ? mt_rand(0, 60000) : mt_rand(0, 900)));
            bloom_cache_delete("$me " . mt_rand(0, 200));
        }
    }
    PHP;
$children = [];
start_going();
for ($i = 0; $i < 3; $i++) {
    $children[$i] = new Child($writer);
    $children[$i]->say("$i");
}
$lost = 0;
$end = microtime(true) + 2;
for ($round = 0; $round < 60 && microtime(true) < $end; $round++) {
    $seen = [];
    $cursor = 0;
    do {
        foreach (bloom_cache_scan($cursor, [1, 7, 100][$round % 3], 'stays ') as $key => $value) {
            check(!isset($seen[$key]), "$key came twice");
            $seen[$key] = $value;
        }
    } while ($cursor !== 0);
    $lost += count(array_diff_key($stays, $seen));
    foreach ($seen as $key => $value) {
        check($value === $stays[$key], "the value of $key");
    }
}
check_same(0, $lost, 'records that scans lost');
bloom_cache_dump(scratch());
stop_going();
foreach ($children as $child) {
    echo $child->end();
}
check_same(0, bloom_cache_info()['evictions'], 'evictions');
bloom_cache_clear();
bloom_cache_restore(scratch());
$got = bloom_cache_get_many(array_keys($stays));
check_same([], array_keys(array_filter($got, fn ($value) => $value === null)), 'records that the dump lost');
check($got === $stays, 'what the dump holds');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

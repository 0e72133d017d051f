--TEST--
bloom_cache_pop_oldest(): least recently used first also in a store of several shards
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/pop_oldest_shards.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=96M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

check(bloom_cache_info()['shards'] > 1, 'this store has several shards');
for ($round = 0; $round < 3; $round++) {
    $order = keys('key ', 100);
    foreach ($order as $i => $key) {
        bloom_cache_set($key, $i);
    }
    $popped = [];
    while (($pair = bloom_cache_pop_oldest()) !== null) {
        $popped[] = $pair[0];
    }
    check_same($order, $popped, "round $round");
}
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

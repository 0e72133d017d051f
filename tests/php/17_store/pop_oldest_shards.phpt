--TEST--
bloom_cache_pop_oldest(): about least recently used first in a store of several shards, and every record once
--DESCRIPTION--
The segment's seed decides how many keys each shard gets: a record in a shard with few of them may
be late by 40 places. On average it is 7 places away, and would be 33 in a random order.
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/pop_oldest_shards.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=96M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

create_segment();
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
    check_same([], array_diff($order, $popped), "round $round: missing");
    check_same(count($order), count($popped), "round $round: popped");
    $far = 0;
    foreach ($popped as $i => $key) {
        $far += abs(array_search($key, $order) - $i);
    }
    check($far < 20 * count($order), "round $round: all together $far places away");
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

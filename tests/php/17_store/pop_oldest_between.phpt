--TEST--
bloom_cache_pop_oldest(): single uses between the writes count, one by one
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/pop_oldest_between.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mt_srand($seed = 8);
echo "seed $seed\n";
for ($round = 0; $round < 5; $round++) {
    $order = [];
    for ($i = 0; $i < 100; $i++) {
        bloom_cache_set("key $i", ['value', $i]);
        $order[] = "key $i";
        for ($reads = mt_rand(0, 2); $reads > 0; $reads--) {
            $key = 'key ' . mt_rand(0, $i);
            check_same(['value', (int) substr($key, 4)], bloom_cache_get($key), $key);
            $order = [...array_diff($order, [$key]), $key];
        }
    }
    $popped = [];
    for ($i = 0; $i < 100; $i++) {
        $popped[] = bloom_cache_pop_oldest()[0];
    }
    check_same($order, $popped, "round $round");
}
var_dump(bloom_cache_pop_oldest());
done();
?>
--EXPECT--
seed 8
NULL
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

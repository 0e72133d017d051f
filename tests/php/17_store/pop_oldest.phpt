--TEST--
bloom_cache_pop_oldest(): least recently used first, whatever was read, written or touched between
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/pop_oldest.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_cache_pop_oldest());
mt_srand($seed = 7);
echo "seed $seed\n";
foreach ([1, 2, 10, 100] as $count) {
    $order = [];
    $used = function (string $key) use (&$order): void {
        $order = [...array_diff($order, [$key]), $key];
    };
    for ($i = 0; $i < $count; $i++) {
        bloom_cache_set("key $i", $i);
        $used("key $i");
        $key = 'key ' . mt_rand(0, $i);
        switch (mt_rand(0, 7)) {
            case 0:
                bloom_cache_get($key);
                $used($key);
                break;
            case 1:
                bloom_cache_touch($key, 0);
                $used($key);
                break;
            case 2:
                bloom_cache_increment($key);
                $used($key);
                break;
            case 3:
                bloom_cache_get_many([$key]);
                $used($key);
                break;
            case 4:
                bloom_cache_remember($key, fn () => 'never');
                $used($key);
                break;
            case 5:
                bloom_cache_set($key, $i);
                $used($key);
                break;
            case 6:
                // These are no use.
                bloom_cache_has($key);
                $cursor = 0;
                bloom_cache_scan($cursor);
                bloom_cache_add($key, 'never');
                break;
        }
    }
    $values = bloom_cache_get_many($order); // uses all, in this order
    $popped = [];
    while (($pair = bloom_cache_pop_oldest()) !== null) {
        check_same([0, 1], array_keys($pair), 'a pair');
        check_same($values[$pair[0]], $pair[1], "the value of $pair[0]");
        check(!bloom_cache_has($pair[0]), "$pair[0] is gone");
        $popped[] = $pair[0];
    }
    check_same($order, $popped, "the order of $count");
    check_same(0, bloom_cache_info()['records'], 'records');
}
var_dump(bloom_cache_pop_oldest());
done();
?>
--EXPECT--
NULL
seed 7
NULL
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

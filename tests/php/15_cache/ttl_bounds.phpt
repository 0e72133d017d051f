--TEST--
A record lives for its ttl, give or take half a second, whenever in the second it was put
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/ttl_bounds.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

const CLOCKS = 0.02; // what the cheap clock may be behind, and more

$before = [];
$after = [];
$end = microtime(true) + 2.6;
for ($i = 0; $i < 12 || microtime(true) < $end; $i++) {
    if ($i < 12) {
        $before[$i] = microtime(true);
        bloom_cache_set("key $i", $i, 1);
        $after[$i] = microtime(true);
    }
    foreach (array_keys($before) as $k) {
        $asked = microtime(true);
        $there = bloom_cache_has("key $k");
        check($there || microtime(true) - $before[$k] > 0.5 - CLOCKS, "key $k is there");
        check(!$there || $asked - $after[$k] < 1.5 + CLOCKS, "key $k is gone");
    }
    usleep(90_000);
}
check(count($before) === 12, 'all were put');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

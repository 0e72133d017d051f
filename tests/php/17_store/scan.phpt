--TEST--
bloom_cache_scan(): every key that is not changed comes exactly once, in pages of about `count`
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/scan.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$cursor = 0;
check_same([], bloom_cache_scan($cursor), 'of an empty store');
check_same(0, $cursor, 'the cursor of an empty store');

$values = [];
for ($i = 0; $i < 3000; $i++) {
    $values["key $i"] = $i % 5 === 0 ? [$i] : $i;
}
bloom_cache_set_many($values);
bloom_load('f', ['a', 'b']);
bloom_fetch('f', 'a', fn () => 'fetched');
foreach ([1, 7, 100, 1000, 10000] as $count) {
    $cursor = 0;
    $seen = [];
    $pages = 0;
    do {
        $page = bloom_cache_scan($cursor, $count);
        check(count($page) <= 2 * $count + 64, "count $count: a page of " . count($page));
        check(array_intersect_key($seen, $page) === [], "count $count: a key came twice");
        check(is_int($cursor), 'the cursor is an int');
        $seen += $page;
        $pages++;
    } while ($cursor !== 0 && $pages < 10000);
    check_same(0, $cursor, 'the end');
    ksort($seen, SORT_NATURAL);
    check_same(3000, count($seen), "count $count: seen");
    check($seen === $values, "count $count: the values");
}
// The default is 100.
$cursor = 0;
check(count(bloom_cache_scan($cursor)) <= 264 && $cursor !== 0, 'the default');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

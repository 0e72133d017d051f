--TEST--
bloom_cache_scan() with a prefix gives the keys that begin with it
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/scan_prefix.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$all = [...keys('user:', 500), ...keys('page:', 500), 'user', "user:\0", 'User:1', 'xuser:1', '', 'page', '12', '120', '012'];
foreach ($all as $key) {
    bloom_cache_set($key, "value of $key");
}
foreach (['user:', 'page:', 'user:1', 'user', '', 'User', 'absent', 'user:499', "user:\0", '12', str_repeat('x', 70000)] as $prefix) {
    foreach ([1, 50, 5000] as $count) {
        $cursor = 0;
        $seen = [];
        do {
            $page = bloom_cache_scan($cursor, $count, $prefix);
            check(count($page) <= 2 * $count + 64, 'the size of a page');
            foreach ($page as $key => $value) {
                check_same("value of $key", $value, 'a value');
                $seen[] = (string) $key;
            }
        } while ($cursor !== 0);
        $expected = array_values(array_filter($all, fn (string $key) => str_starts_with($key, $prefix)));
        sort($expected, SORT_STRING);
        sort($seen, SORT_STRING);
        check($expected === $seen, substr($prefix, 0, 20) . ", count $count: " . count($seen) . ' instead of ' . count($expected));
    }
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

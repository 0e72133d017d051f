--TEST--
bloom_cache_scan() when unserializing changes other records: unchanged records come all the same
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/scan_unserialize.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

final class Churning
{
    public static int $count = 0;

    public function __serialize(): array
    {
        return [];
    }

    public function __unserialize(array $data): void
    {
        // Memory is taken and given back in all sizes.
        for ($i = 0; $i < 20; $i++) {
            bloom_cache_set("churn $i", str_repeat('x', 3 ** (self::$count++ % 11)));
        }
        for ($i = 0; $i < 20; $i++) {
            bloom_cache_delete("churn $i");
        }
    }
}
for ($i = 0; $i < 300; $i++) {
    bloom_cache_set("key $i", $i % 2 === 0 ? new Churning() : str_repeat('y', $i));
}
foreach ([1, 7, 100, 1000] as $count) {
    $cursor = 0;
    $seen = [];
    do {
        foreach (bloom_cache_scan($cursor, $count, 'key ') as $key => $value) {
            $seen[$key] = ($seen[$key] ?? 0) + 1;
        }
    } while ($cursor !== 0);
    check_same(300, count($seen), "count $count: seen");
    check_same(300, array_sum($seen), "count $count: times");
}
check_same(0, bloom_cache_info()['evictions'], 'evictions');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

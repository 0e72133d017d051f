--TEST--
bloom_cache_scan() leaves its cursor in whatever variable it is given
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/scan_cursor.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

scan_all();
function scan_all(): void
{
    bloom_cache_set_many(array_fill_keys(keys('key ', 500), 1));
    $object = new class {
        public int $cursor = 0;
        public array $list = ['cursor' => 0];
    };
    $seen = 0;
    do {
        $seen += count(bloom_cache_scan($object->cursor, 10));
        check(is_int($object->cursor), 'a typed property');
    } while ($object->cursor !== 0);
    do {
        $seen += count(bloom_cache_scan($object->list['cursor'], 10));
    } while ($object->list['cursor'] !== 0);
    $reference = 0;
    $cursor = &$reference;
    do {
        $seen += count(bloom_cache_scan($cursor, 10));
    } while ($reference !== 0);
    var_dump($seen);
    // The next one begins anew.
    var_dump(count(bloom_cache_scan($cursor, 1000)), $cursor);
}
done();
?>
--EXPECT--
int(1500)
int(500)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

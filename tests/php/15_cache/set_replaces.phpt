--TEST--
bloom_cache_set() replaces the value, whatever its type and size was
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/set_replaces.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$values = [null, 'short', 1, str_repeat('x', 100000), false, [1, 2, 3], 'y', 1.5, str_repeat('z', 300), ''];
$i = 0;
foreach ([...$values, ...array_reverse($values), ...$values] as $value) {
    check(bloom_cache_set('key', $value), "value $i is stored");
    check_same($value, bloom_cache_get('key', 'default'), "value $i");
    check_same(1, bloom_cache_info()['records'], 'records');
    $i++;
}
// A reference is stored as its value; what is changed later does not change what is stored.
$array = ['a' => 1];
$reference = &$array;
bloom_cache_set('key', $reference);
$reference['a'] = 2;
$got = bloom_cache_get('key');
$got['a'] = 3;
check_same(['a' => 1], bloom_cache_get('key'), 'what was stored');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

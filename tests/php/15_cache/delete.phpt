--TEST--
bloom_cache_delete() and bloom_cache_delete_many() tell what they removed
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/delete.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_cache_set_many(['a' => 1, 'b' => null, 'c' => false, 5 => 'five', 'd' => 4]);
var_dump(bloom_cache_delete('a'), bloom_cache_delete('a'), bloom_cache_has('a'), bloom_cache_delete('absent'));
var_dump(bloom_cache_delete('b'), bloom_cache_delete('c'), bloom_cache_info()['records']);
bloom_cache_set('a', 1);
var_dump(bloom_cache_delete_many(['a', 'absent', 5, 'a', '5']), bloom_cache_delete_many([]), bloom_cache_info()['records']);
var_dump(bloom_cache_get_many(['a', 5, 'd']));
bloom_cache_set_many(array_fill_keys(keys('k', 1000), str_repeat('x', 100)));
var_dump(bloom_cache_delete_many(keys('k', 2000)), bloom_cache_info()['records']);
done();
?>
--EXPECT--
bool(true)
bool(false)
bool(false)
bool(false)
bool(true)
bool(true)
int(2)
int(2)
int(0)
int(1)
array(3) {
  ["a"]=>
  NULL
  [5]=>
  NULL
  ["d"]=>
  int(4)
}
int(1000)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

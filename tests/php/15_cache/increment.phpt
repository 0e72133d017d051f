--TEST--
bloom_cache_increment() and bloom_cache_decrement()
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/increment.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_cache_increment('a'), bloom_cache_increment('a'), bloom_cache_increment('a', 10), bloom_cache_increment('a', 0));
var_dump(bloom_cache_increment('a', -20), bloom_cache_decrement('a'), bloom_cache_decrement('a', 3), bloom_cache_decrement('a', -11));
// Of an absent key: initial + by, or initial - by. Of another the initial value does not matter.
var_dump(bloom_cache_increment('b', 5, 100), bloom_cache_increment('b', 5, 100), bloom_cache_decrement('c'), bloom_cache_decrement('d', 5, 100));
var_dump(bloom_cache_increment('e', 0, -1), bloom_cache_increment('f', 0), bloom_cache_get('f', 'default'));
// To the edges, and away from them.
bloom_cache_set('g', PHP_INT_MAX - 1);
var_dump(bloom_cache_increment('g') === PHP_INT_MAX, bloom_cache_increment('g', PHP_INT_MIN), bloom_cache_increment('g', -PHP_INT_MAX) === PHP_INT_MIN);
var_dump(bloom_cache_increment('g', PHP_INT_MAX), bloom_cache_increment('h', PHP_INT_MIN, 0) === PHP_INT_MIN);
check_same(PHP_INT_MAX, bloom_cache_decrement('k', PHP_INT_MIN, -1), 'down by the least int');
bloom_cache_delete('k');
var_dump(bloom_cache_increment('i', PHP_INT_MIN, PHP_INT_MAX), bloom_cache_decrement('j', PHP_INT_MAX, -1) === PHP_INT_MIN);
var_dump(bloom_cache_get('a'), bloom_cache_get('g'), bloom_cache_info()['records']);
done();
?>
--EXPECT--
int(1)
int(2)
int(12)
int(12)
int(-8)
int(-9)
int(-12)
int(-1)
int(105)
int(110)
int(-1)
int(95)
int(-1)
int(0)
int(0)
bool(true)
int(-1)
bool(true)
int(-1)
bool(true)
int(-1)
bool(true)
int(-1)
int(-1)
int(10)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

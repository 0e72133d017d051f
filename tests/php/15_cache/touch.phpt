--TEST--
bloom_cache_touch() tells whether the record is there, and counts as a use
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/touch.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_cache_touch('absent', 10), bloom_cache_has('absent'));
bloom_cache_set_many(['a' => [1, 2], 'b' => null, 'c' => 'text']);
var_dump(bloom_cache_touch('a', 10), bloom_cache_get('a') === [1, 2], bloom_cache_touch('a', 0), bloom_cache_touch('b', 100));
// What was not touched goes first.
var_dump(bloom_cache_pop_oldest()[0], bloom_cache_pop_oldest()[0], bloom_cache_pop_oldest()[0], bloom_cache_touch('a', 10));
done();
?>
--EXPECT--
bool(false)
bool(false)
bool(true)
bool(true)
bool(true)
bool(true)
string(1) "c"
string(1) "a"
string(1) "b"
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

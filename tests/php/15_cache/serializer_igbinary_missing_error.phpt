--TEST--
A value of igbinary in a process without that extension: reads throw INCOMPATIBLE, loaders load again
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/serializer_igbinary_missing_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--SKIPIF--
<?php
if (extension_loaded('igbinary')) { die('skip igbinary is loaded'); }
if (!is_file(ini_get('extension_dir') . '/igbinary.so')) { die('skip igbinary is not installed'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['key']);
$cursor = 0;
echo Child::run(<<<'PHP'
    foreach (['a', 'b', 'c'] as $key) {
        var_dump(bloom_cache_set($key, ['by igbinary']));
    }
    bloom_cache_set('text', 'as it is');
    bloom_fetch('f', 'key', fn () => ['by igbinary']);
    PHP, ['extension' => 'igbinary', 'bloomshm.serializer' => 'igbinary']);
show_thrown(
    fn () => bloom_cache_get('a', 'default'),
    fn () => bloom_cache_get_many(['text', 'a']),
    fn () => bloom_cache_cas('a', ['by igbinary'], 1),
    fn () => bloom_cache_cas('a', 'a string', 1),
    fn () => bloom_cache_scan($cursor),
    fn () => bloom_cache_append('a', 'x'),
);
// The record is still there, and can be replaced or removed.
var_dump(bloom_cache_has('a'), bloom_cache_get('text'), bloom_cache_delete('a'), bloom_cache_has('a'));
// A loader is called instead.
var_dump(bloom_cache_remember('b', fn () => 'loaded'), bloom_cache_get('b'));
var_dump(bloom_fetch('f', 'key', fn () => 'loaded'));
show_thrown(fn () => bloom_cache_pop_oldest());
// It is not lost, but the next one is behind it.
var_dump(bloom_cache_has('c'));
show_thrown(fn () => bloom_cache_pop_oldest());
bloom_cache_delete('c');
show_thrown(fn () => bloom_cache_pop_oldest());
done();
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
BloomShm\Exception INCOMPATIBLE: the value was stored with "igbinary", and that extension is not loaded
BloomShm\Exception INCOMPATIBLE: the value was stored with "igbinary", and that extension is not loaded
BloomShm\Exception INCOMPATIBLE: the value was stored with "igbinary", and that extension is not loaded
nothing thrown, returned false
BloomShm\Exception INCOMPATIBLE: the value was stored with "igbinary", and that extension is not loaded
BloomShm\Exception INCOMPATIBLE: the record "a" holds an array or object of igbinary, and a string is needed; it was not changed
bool(true)
string(8) "as it is"
bool(true)
bool(false)
string(6) "loaded"
string(6) "loaded"
string(6) "loaded"
BloomShm\Exception INCOMPATIBLE: the value was stored with "igbinary", and that extension is not loaded
bool(true)
BloomShm\Exception INCOMPATIBLE: the value was stored with "igbinary", and that extension is not loaded
nothing thrown, returned ["text","as it is"]
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

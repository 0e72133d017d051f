--TEST--
bloom_forget() removes the record of a key, whatever it says
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/forget.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a', 'b']);
var_dump(bloom_forget('f', 'a'), bloom_fetch('f', 'a', fn () => 1), bloom_forget('f', 'a'), bloom_forget('f', 'a'));
var_dump(bloom_fetch('f', 'a', fn () => 2), bloom_fetch('f', 'b', fn () => null), bloom_forget('f', 'b'), bloom_fetch('f', 'b', fn () => 'now'));
// The filter is left as it is, and so is a bloom_cache_* record of that name.
bloom_cache_set('a', 'cache');
bloom_forget('f', 'a');
var_dump(bloom_maybe_has('f', 'a'), bloom_cache_get('a'), bloom_cache_delete('a'), bloom_forget('missing', 'a'));
var_dump(bloom_info('f')['items'], bloom_cache_info()['records']);
done();
?>
--EXPECT--
bool(false)
int(1)
bool(true)
bool(false)
int(2)
NULL
bool(true)
string(3) "now"
bool(true)
string(5) "cache"
bool(true)
bool(false)
int(2)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

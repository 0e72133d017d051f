--TEST--
bloomshm.readonly never creates a segment, and says so; once there is one, its record store works
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/readonly_absent.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=1M
bloomshm.readonly=1
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_cache_set('r', 1), bloom_cache_remember('r', fn () => 'loaded'), bloom_fetch('f', 'a', fn () => 'fetched'));
show_thrown(fn () => bloom_cache_increment('r'), fn () => bloom_cache_increment('r', create: false));
echo bloom_status()['reason'], "\n", bloom_verify()[0], "\n";
var_dump(file_exists(segment()));
echo Child::run('bloom_load("f", ["a"]);', ['bloomshm.readonly' => '0']);
var_dump(bloom_cache_set('r', 1), bloom_cache_get('r'), bloom_status()['available'], bloom_maybe_has('f', 'b'));
done();
?>
--EXPECTF--
bool(false)
string(6) "loaded"
string(7) "fetched"
BloomShm\Exception UNAVAILABLE: no segment yet at %s; this process never creates one (bloomshm.readonly = 1), %s
nothing thrown, returned false
no segment yet at %s; this process never creates one (bloomshm.readonly = 1), %s
no segment yet at %s; this process never creates one (bloomshm.readonly = 1), %s
bool(false)
bool(true)
int(1)
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

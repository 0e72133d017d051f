--TEST--
bloom_cache_info() counts the records, hits and misses of bloom_fetch() too
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/info_fetch.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a', 'b']);
bloom_fetch('f', 'a', fn () => 1);
$info = bloom_cache_info();
check_same([1, 0, 1], [$info['records'], $info['hits'], $info['misses']], 'after one that was loaded');
bloom_fetch('f', 'a', fn () => 1);
bloom_fetch('f', 'a', fn () => 1);
$info = bloom_cache_info();
check_same([1, 2, 1], [$info['records'], $info['hits'], $info['misses']], 'after two that were there');
bloom_fetch('f', 'b', fn () => null);
bloom_fetch('f', 'b', fn () => null);
$info = bloom_cache_info();
check_same([2, 3, 2], [$info['records'], $info['hits'], $info['misses']], 'after a remembered null');
$free = bloom_status()['cache_bytes_free'];
check($free > 0 && $free <= bloom_status()['cache_bytes'], 'cache_bytes_free');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

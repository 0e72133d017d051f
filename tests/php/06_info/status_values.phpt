--TEST--
bloom_status() tells the truth
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/status_values.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=0
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 1000, expansion: 0);
$status = bloom_status();
var_dump($status['available'], $status['path'] === segment(), $status['owner_uid'] === posix_geteuid());
var_dump(decoct($status['mode']), $status['filter_bytes'], $status['cache_bytes'], $status['cache_bytes_free']);
var_dump($status['filters'], $status['attached'], $status['repairs'], $status['lock_timeouts'], $status['missing_answers']);
$free = $status['filter_bytes_free'];
bloom_load('g', keys('k', 20000));
$after = bloom_status();
var_dump($after['filters'], $free - $after['filter_bytes_free'] === bloom_info('g')['bytes']);
check($after['largest_free_bytes'] <= $after['filter_bytes_free'], 'largest_free_bytes');
bloom_drop('g');
var_dump(bloom_status()['filters'], free_bytes() === $free);
done();
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
string(3) "600"
int(1048576)
int(0)
int(0)
int(1)
int(1)
int(0)
int(0)
int(0)
int(2)
bool(true)
int(1)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_status()['last_error'] keeps what went wrong last
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/status_last_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

show_thrown(fn () => bloom_reserve('f', 100_000_000, expansion: 0));
$error = bloom_status()['last_error'];
var_dump(is_string($error) && $error !== '', bloom_status()['available']);
?>
--EXPECTF--
BloomShm\Exception NO_SPACE: %s
bool(true)
bool(true)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

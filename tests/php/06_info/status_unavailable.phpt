--TEST--
bloom_status() has the same keys when there is no segment to describe
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/status_unavailable.seg
bloomshm.filter_memory=1M
bloomshm.enable=0
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$status = bloom_status();
echo implode(', ', array_keys($status)), "\n";
var_dump($status['available'], $status['path'] === segment(), $status['filters'], $status['attached'], $status['filter_bytes_free']);
?>
--EXPECT--
available, reason, path, layout_version, owner_uid, mode, filter_bytes, filter_bytes_free, largest_free_bytes, cache_bytes, cache_bytes_free, filters, attached, repairs, lock_timeouts, questions, maybes, outbox_keys, outbox_bytes, outbox_bytes_free, unsent, missing_answers, last_error
bool(false)
bool(true)
int(0)
int(0)
int(0)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_status() has exactly the documented keys, of their types
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/status.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$status = bloom_status();
echo implode(', ', array_keys($status)), "\n";
$expected = [
    'available' => 'bool',
    'path' => 'string',
    'layout_version' => 'int|string',
    'owner_uid' => 'int',
    'mode' => 'int',
    'filter_bytes' => 'int',
    'filter_bytes_free' => 'int',
    'largest_free_bytes' => 'int',
    'cache_bytes' => 'int',
    'cache_bytes_free' => 'int',
    'filters' => 'int',
    'attached' => 'int',
    'repairs' => 'int',
    'lock_timeouts' => 'int',
    'questions' => 'int',
    'maybes' => 'int',
    'outbox_keys' => 'int',
    'outbox_bytes' => 'int',
    'outbox_bytes_free' => 'int',
    'unsent' => 'int',
    'missing_answers' => 'int',
    'reason' => 'string|null',
    'last_error' => 'string|null',
];
foreach ($expected as $key => $types) {
    check(in_array(get_debug_type($status[$key]), explode('|', $types), true), "$key is " . json_encode($status[$key]));
}
?>
--EXPECT--
available, reason, path, layout_version, owner_uid, mode, filter_bytes, filter_bytes_free, largest_free_bytes, cache_bytes, cache_bytes_free, filters, attached, repairs, lock_timeouts, questions, maybes, outbox_keys, outbox_bytes, outbox_bytes_free, unsent, missing_answers, last_error
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

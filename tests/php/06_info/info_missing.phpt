--TEST--
bloom_info() of a missing filter is null, whatever the policy
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/info_missing.seg
bloomshm.filter_memory=1M
bloomshm.missing_filter=throw
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_info('missing'));
?>
--EXPECT--
NULL
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

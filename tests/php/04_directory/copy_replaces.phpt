--TEST--
bloom_copy() onto a name that stands replaces it, onto itself changes nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/copy_replaces.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$free = free_bytes();
bloom_load('from', keys('from ', 20000));
bloom_load('to', keys('to ', 1000));
var_dump(bloom_copy('from', 'to'), count_no('to', keys('from ', 20000)), count_yes('to', keys('x', 1000)) < 100);
check_same($free - 2 * bloom_info('from')['bytes'], free_bytes(), 'free bytes');
$before = bloom_info('from');
var_dump(bloom_copy('from', 'from'), bloom_info('from') === $before);
bloom_drop('from');
bloom_drop('to');
check_same($free, free_bytes(), 'free bytes');
done();
?>
--EXPECT--
bool(true)
int(0)
bool(true)
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

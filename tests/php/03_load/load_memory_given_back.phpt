--TEST--
Loads one after the other leave no memory behind, whatever their size
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_memory_given_back.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$free = free_bytes();
for ($round = 0; $round < 30; $round++) {
    bloom_load('f', keys('k', 1 + $round * 997));
}
check_same(0, count_no('f', keys('k', 1 + 29 * 997)), 'denied');
check_same($free - free_bytes(), bloom_info('f')['bytes'], 'what is in use is the filter');
bloom_drop('f');
check_same($free, free_bytes(), 'free bytes');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

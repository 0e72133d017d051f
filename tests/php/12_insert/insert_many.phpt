--TEST--
bloom_insert() of a long list into a filter that grows meanwhile
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/insert_many.seg
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$answers = bloom_insert('f', keys('k', 100000));
check_same(100000, count($answers), 'answers');
check_same(bloom_info('f')['items'], count(array_filter($answers)), 'new');
check(count(array_filter($answers)) > 99000, 'most are new');
check_same(0, count_no('f', keys('k', 100000)), 'denied');
check_same(0, count(array_filter(bloom_insert('f', keys('k', 100000)))), 'new again');
check(count(bloom_info('f')['layers']) > 4, 'layers');
done();
?>
--EXPECTF--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

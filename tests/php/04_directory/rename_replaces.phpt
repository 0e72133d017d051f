--TEST--
bloom_rename() onto a name that stands replaces it and gives its memory back
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/rename_replaces.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$free = free_bytes();
bloom_load('from', keys('from ', 1000), seed: 'fixed');
bloom_load('to', keys('to ', 20000));
var_dump(bloom_rename('from', 'to'), bloom_list(), count_no('to', keys('from ', 1000)), count_yes('to', keys('to ', 10)));
check_same($free - bloom_info('to')['bytes'], free_bytes(), 'free bytes');
// There and back again.
bloom_rename('to', 'from');
bloom_rename('from', 'to');
var_dump(count_no('to', keys('from ', 1000)), bloom_list());
done();
?>
--EXPECT--
bool(true)
array(1) {
  [0]=>
  string(2) "to"
}
int(0)
int(0)
int(0)
array(1) {
  [0]=>
  string(2) "to"
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloomshm.huge_pages=1 changes nothing that one can see
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/huge_pages.seg
bloomshm.huge_pages=1
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('k', 100000));
var_dump(count_no('f', keys('k', 100000)), bloom_status()['available']);
done();
?>
--EXPECT--
int(0)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

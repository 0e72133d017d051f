--TEST--
bloom_list() gives numeric names as strings
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/list_numeric.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach (['7', '123', '0'] as $name) {
    bloom_reserve($name, 10, expansion: 0);
}
$list = bloom_list();
sort($list, SORT_STRING);
var_dump($list);
done();
?>
--EXPECT--
array(3) {
  [0]=>
  string(1) "0"
  [1]=>
  string(3) "123"
  [2]=>
  string(1) "7"
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_list() gives the names, sorted
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/list.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_list());
foreach (['b', 'a', 'ab', 'B', '日本', "a\xff", str_repeat('z', 63), 'a b'] as $name) {
    bloom_reserve($name, 10, expansion: 0);
}
$list = bloom_list();
$sorted = $list;
sort($sorted, SORT_STRING);
var_dump($list === $sorted, array_is_list($list), count($list));
bloom_drop('ab');
bloom_rename('b', 'c');
var_dump(array_map(bin2hex(...), bloom_list()));
done();
?>
--EXPECT--
array(0) {
}
bool(true)
bool(true)
int(8)
array(7) {
  [0]=>
  string(2) "42"
  [1]=>
  string(2) "61"
  [2]=>
  string(6) "612062"
  [3]=>
  string(4) "61ff"
  [4]=>
  string(2) "63"
  [5]=>
  string(126) "7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a"
  [6]=>
  string(12) "e697a5e69cac"
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

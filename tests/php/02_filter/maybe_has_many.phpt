--TEST--
bloom_maybe_has_many() answers under the caller's own array keys, in order
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/maybe_has_many.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 100, expansion: 0);
bloom_add_many('f', ['a', 'b', '7', '1.5']);
var_dump(bloom_maybe_has_many('f', ['z' => 'a', 10 => 'x', 5 => 'b', 'y' => 7, -1 => 8, '' => 1.5]));
var_dump(bloom_maybe_has_many('f', ['a', 'a', 'x', 'x']));
var_dump(bloom_maybe_has_many('f', []));
done();
?>
--EXPECT--
array(6) {
  ["z"]=>
  bool(true)
  [10]=>
  bool(false)
  [5]=>
  bool(true)
  ["y"]=>
  bool(true)
  [-1]=>
  bool(false)
  [""]=>
  bool(true)
}
array(4) {
  [0]=>
  bool(true)
  [1]=>
  bool(true)
  [2]=>
  bool(false)
  [3]=>
  bool(false)
}
array(0) {
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

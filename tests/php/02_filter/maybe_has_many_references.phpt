--TEST--
bloom_maybe_has_many() of references gives plain answers and leaves the keys alone
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/maybe_has_many_references.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 100, expansion: 0);
bloom_add_many('f', ['a', '12']);
$string = 'a';
$int = 12;
$keys = ['s' => &$string, 'i' => &$int, 'x' => 'x'];
$answers = bloom_maybe_has_many('f', $keys);
$answers['s'] = 'changed';
var_dump($answers, $string, $int, $keys['i']);
done();
?>
--EXPECT--
array(3) {
  ["s"]=>
  string(7) "changed"
  ["i"]=>
  bool(true)
  ["x"]=>
  bool(false)
}
string(1) "a"
int(12)
int(12)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_insert() makes the filter, and answers for each key under its own array key
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/insert.seg
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_insert('f', ['a', 'b', 'a']));
echo json_encode(bloom_insert('f', ['x' => 'a', 7 => 'c', 3 => 'd', 'y' => 'c'])), "\n";
echo json_encode(bloom_insert('f', (function () { yield 'k' => 'a'; yield 'k' => 'e'; })())), "\n";
echo json_encode(bloom_insert('f', [1, 1.5, [12, 'column'], new ArrayObject() instanceof Traversable ? 'g' : ''])), "\n";
$info = bloom_info('f');
var_dump($info['type'], $info['error_rate'], $info['expansion'], $info['items']);
echo json_encode(bloom_insert('f', ['a', 'z'], 5, 0.5, 0)), ' ', bloom_info('f')['error_rate'], "\n";
echo json_encode(bloom_insert('empty', [])), ' ', json_encode(bloom_ready('empty')), "\n";
echo json_encode(bloom_insert('g', ['a'], 1000, 0.001, 4)), ' ', bloom_info('g')['error_rate'], "\n";
echo json_encode(bloom_insert('g', ['a', 'b'], create: false)), "\n";
done();
?>
--EXPECTF--
array(3) {
  [0]=>
  bool(true)
  [1]=>
  bool(true)
  [2]=>
  bool(false)
}
{"x":false,"7":true,"3":true,"y":false}
[false,true]
[true,true,true,true]
string(8) "scalable"
float(0.01)
int(2)
int(9)
[false,true] 0.01
[] true
[true] 0.001
[false,true]
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

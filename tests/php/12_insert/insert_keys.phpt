--TEST--
bloom_insert() answers under the array keys of its argument, in their order; a list for any other iterable
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/insert_keys.seg
bloomshm.filter_memory=2M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 20000, 0.000001, seed: 'fixed');
bloom_insert('f', ['old']);
$answers = [
    bloom_insert('f', ['x' => 'old', 5 => 'a', -3 => 'old', '' => 'b', '7' => 'a', 'y' => 'c']),
    bloom_insert('f', [9 => 'd', 1 => 'old', 4 => 'd']),
    bloom_insert('f', ['d']),
    bloom_insert('f', (function () {
        yield 'same' => 'e';
        yield 'same' => 'old';
        yield [] => 'f';
    })()),
    bloom_insert('f', new ArrayIterator(['x' => 'g', 'y' => 'old'])),
    bloom_insert('f', new ArrayObject(['x' => 'h', 'y' => 'old'])),
];
foreach ($answers as $answer) {
    echo json_encode($answer), "\n";
}
// With holes, and of every size around a batch.
foreach ([1, 2, 63, 64, 65, 127, 128, 129, 5000] as $count) {
    $keys = keys("$count-", $count);
    $holes = $keys + [$count => 'gone'];
    unset($holes[$count]);
    check_same(array_fill(0, $count, true), bloom_insert('f', $holes), "$count keys");
    $named = array_combine(array_reverse($keys), $keys);
    check_same(array_fill_keys(array_reverse($keys), false), bloom_insert('f', $named), "$count keys of a map");
    unset($holes[0]);
    check_same(array_keys($holes), array_keys(bloom_insert('f', $holes)), "$count - 1 keys");
}
// References are read, and neither changed nor given back.
$a = 'referenced';
$list = ['x' => &$a, 'y' => 'old'];
$answer = bloom_insert('f', $list);
$a = 'changed';
var_dump($answer, bloom_maybe_has('f', 'referenced'));
done();
?>
--EXPECT--
{"x":false,"5":true,"-3":false,"":true,"7":false,"y":true}
{"9":true,"1":false,"4":false}
[false]
[true,false,true]
[true,false]
[true,false]
array(2) {
  ["x"]=>
  bool(true)
  ["y"]=>
  bool(false)
}
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

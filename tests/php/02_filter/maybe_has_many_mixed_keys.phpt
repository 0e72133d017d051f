--TEST--
bloom_maybe_has_many() answers under int, sparse and string keys in any mixture
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/maybe_has_many_mixed_keys.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['here'], seed: 's');
var_dump(bloom_maybe_has_many('f', ['absent', 'absent', 'x' => 'here', 7 => 'absent', -3 => 'here']));
$questions = [];
for ($i = 0; $i < 500; $i++) {
    $questions[$i % 3 === 0 ? "name $i" : $i * 1000] = $i % 2 === 0 ? 'here' : 'absent';
}
$answers = bloom_maybe_has_many('f', $questions);
check(array_keys($answers) === array_keys($questions), 'keys and order');
foreach ($questions as $key => $question) {
    check($answers[$key] === ($question === 'here'), "answer under $key");
}
$holes = ['absent', 'here', 'absent', 'here'];
unset($holes[1]);
var_dump(bloom_maybe_has_many('f', $holes));
done();
?>
--EXPECT--
array(5) {
  [0]=>
  bool(false)
  [1]=>
  bool(false)
  ["x"]=>
  bool(true)
  [7]=>
  bool(false)
  [-3]=>
  bool(true)
}
array(3) {
  [0]=>
  bool(false)
  [2]=>
  bool(false)
  [3]=>
  bool(true)
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

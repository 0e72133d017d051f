--TEST--
bloom_maybe_has_many() of lists with holes, and of every batch size
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/maybe_has_many_holes.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 100, expansion: 0, seed: 'fixed');
bloom_add_many('f', keys('k', 60));
$keys = ['k1', 'x', 'k2', 'y', 'k3'];
unset($keys[1], $keys[4]);
var_dump(bloom_maybe_has_many('f', $keys));
for ($size = 0; $size <= 150; $size++) {
    $answers = bloom_maybe_has_many('f', keys('k', $size));
    check_same($size, count($answers), 'answers');
    foreach ($answers as $i => $answer) {
        check_same($i < 60, $answer, "key $i of $size");
    }
}
done();
?>
--EXPECT--
array(3) {
  [0]=>
  bool(true)
  [2]=>
  bool(true)
  [3]=>
  bool(false)
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

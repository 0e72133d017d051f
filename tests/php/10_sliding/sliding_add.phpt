--TEST--
Within its window a sliding filter answers like any other, for single keys and for many
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/sliding_add.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 30000, window: 36_000_000, seed: 'fixed');
var_dump(bloom_add('f', 'a'), bloom_add('f', 'a'), bloom_maybe_has_many('f', ['x' => 'a', 'y' => 'b']));
var_dump(bloom_insert('f', ['a', 'b', 'b']));
$new = bloom_add_many('f', keys('k', 8000));
check($new > 7980 && $new <= 8000, "new: $new");
check_same(0, bloom_add_many('f', keys('k', 8000)), 'new again');
check_same(0, count_no('f', ['a', 'b', ...keys('k', 8000)]), 'denied');
foreach ([1, 63, 64, 65, 8000] as $count) {
    check_same(array_fill(0, $count, true), bloom_maybe_has_many('f', keys('k', $count)), "$count keys");
}
$info = bloom_info('f');
// What was added again is one key.
check($info['items'] > 7800 && $info['items'] < 8200, "items: {$info['items']}");
check_same($info['items'], $info['layers'][0]['items'], 'items of the layer');
$measured = count_yes('f', keys('absent ', 100_000));
$expected = $info['estimated_error_rate'] * 100_000;
check(abs($measured - $expected) <= 6.5 * sqrt($expected) + 3, "measured $measured, estimated $expected");
check($info['estimated_error_rate'] <= 0.01, "estimated {$info['estimated_error_rate']}");
check($info['worst_partition_error_rate'] >= $info['estimated_error_rate'], 'worst_partition_error_rate');
done();
?>
--EXPECT--
bool(true)
bool(false)
array(2) {
  ["x"]=>
  bool(true)
  ["y"]=>
  bool(false)
}
array(3) {
  [0]=>
  bool(false)
  [1]=>
  bool(true)
  [2]=>
  bool(false)
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

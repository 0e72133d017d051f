--TEST--
What is inserted while a load runs is in the loaded filter; a first load does not keep a filter from being made
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/insert_during_load.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', (function () {
    yield 'loaded';
    // Nothing stands yet: it is made, and answers until the load is done.
    var_dump(bloom_insert('f', ['a', 'b']), bloom_maybe_has('f', 'loaded'), bloom_info('f')['items']);
    yield 'b';
})(), 0.0001);
var_dump(bloom_info('f')['error_rate'], bloom_info('f')['items']);
check_same(0, count_no('f', ['loaded', 'a', 'b']), 'denied');
bloom_load('f', (function () {
    yield 'loaded';
    var_dump(bloom_insert('f', ['x' => 'a', 'y' => 'new']));
})());
var_dump(bloom_maybe_has_many('f', ['loaded', 'a', 'new', 'b']));
done();
?>
--EXPECT--
array(2) {
  [0]=>
  bool(true)
  [1]=>
  bool(true)
}
bool(false)
int(2)
float(0.0001)
int(3)
array(2) {
  ["x"]=>
  bool(false)
  ["y"]=>
  bool(true)
}
array(4) {
  [0]=>
  bool(true)
  [1]=>
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

--TEST--
Filters outlive the processes that made them
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/survives.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

echo Child::run('bloom_load("loaded", ["a", "b"]); bloom_reserve("reserved", 10, expansion: 0);');
echo Child::run('var_dump(bloom_add("reserved", "c"));');
var_dump(bloom_list());
var_dump(bloom_maybe_has_many('loaded', ['a', 'b', 'c']), bloom_maybe_has('reserved', 'c'), bloom_maybe_has('reserved', 'd'));
done();
?>
--EXPECT--
bool(true)
array(2) {
  [0]=>
  string(6) "loaded"
  [1]=>
  string(8) "reserved"
}
array(3) {
  [0]=>
  bool(true)
  [1]=>
  bool(true)
  [2]=>
  bool(false)
}
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

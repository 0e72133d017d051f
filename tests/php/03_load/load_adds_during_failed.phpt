--TEST--
Keys added during a load that fails are in the filter that stays
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_adds_during_failed.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['old'], 0.000001);
show_thrown(fn () => bloom_load('f', (function () {
    yield 'new';
    bloom_add('f', 'added');
    throw new LogicException('the query failed');
})()));
var_dump(bloom_maybe_has_many('f', ['old', 'added', 'new']));
// Nor do they get into a load that begins later.
bloom_load('f', ['newest'], 0.000001);
var_dump(bloom_maybe_has_many('f', ['newest', 'old', 'added', 'new']));
done();
?>
--EXPECT--
LogicException: the query failed
array(3) {
  [0]=>
  bool(true)
  [1]=>
  bool(true)
  [2]=>
  bool(false)
}
array(4) {
  [0]=>
  bool(true)
  [1]=>
  bool(false)
  [2]=>
  bool(false)
  [3]=>
  bool(false)
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

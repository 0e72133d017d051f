--TEST--
Keys added while the first load of a name runs are in the published filter
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_adds_during_first.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$answers = [];
bloom_load('f', (function () use (&$answers) {
    yield from keys('k', 1000);
    // Still missing, hence maybe; but the key is not lost.
    bloom_add('f', 'in the middle');
    bloom_add_many('f', ['many 1', 'many 2']);
    $answers = [bloom_maybe_has('f', 'anything'), bloom_ready('f'), bloom_list()];
    yield 'last';
})(), 0.000001, seed: 'fixed');
var_dump($answers === [true, false, []]);
var_dump(bloom_maybe_has_many('f', ['in the middle', 'many 1', 'many 2', 'last', 'k999', 'anything']));
done();
?>
--EXPECT--
bool(true)
array(6) {
  [0]=>
  bool(true)
  [1]=>
  bool(true)
  [2]=>
  bool(true)
  [3]=>
  bool(true)
  [4]=>
  bool(true)
  [5]=>
  bool(false)
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

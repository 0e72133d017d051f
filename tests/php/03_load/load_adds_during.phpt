--TEST--
Keys added while a load runs are in the published filter
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_adds_during.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('old ', 1000), 0.000001, seed: 'old');
$new = null;
bloom_load('f', (function () use (&$new) {
    bloom_add('f', 'before the first');
    yield from keys('new ', 1000);
    $new = bloom_add('f', 'in the middle');
    yield from keys('more ', 30000);
    bloom_add_many('f', keys('many ', 500));
    bloom_add_many('f', (fn () => yield from keys('generated ', 500))());
    bloom_add('f', 'old 7');
    yield 'last';
    bloom_add('f', 'after the last');
})(), 0.000001, seed: 'new');
var_dump($new);
var_dump(count_no('f', ['before the first', 'in the middle', 'after the last', 'last', 'old 7']));
var_dump(count_no('f', [...keys('new ', 1000), ...keys('more ', 30000), ...keys('many ', 500), ...keys('generated ', 500)]));
// Not what was there before the load began.
var_dump(count_yes('f', ['old 1', 'old 2', 'old 3', 'absent']));
// The next load starts from nothing again.
bloom_load('f', ['only'], 0.000001);
var_dump(bloom_maybe_has_many('f', ['only', 'in the middle', 'many 1']));
done();
?>
--EXPECT--
bool(true)
int(0)
int(0)
int(0)
array(3) {
  [0]=>
  bool(true)
  [1]=>
  bool(false)
  [2]=>
  bool(false)
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

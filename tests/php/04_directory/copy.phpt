--TEST--
bloom_copy() makes a filter that lives its own life
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/copy.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 5000, 0.01, 0, seed: 'fixed');
bloom_add_many('f', keys('k', 1000));
var_dump(bloom_copy('f', 'g'), bloom_list(), count_no('g', keys('k', 1000)));
$of = fn (string $name) => array_diff_key(bloom_info($name), array_flip(['name', 'generation', 'published_at', 'questions', 'maybes']));
check_same($of('f'), $of('g'), 'info');
check_same('g', bloom_info('g')['name'], 'name');
check(bloom_maybe_has_many('f', keys('x', 10000)) === bloom_maybe_has_many('g', keys('x', 10000)), 'the same answers');

bloom_add('f', 'only in f');
bloom_add('g', 'only in g');
var_dump(bloom_maybe_has_many('f', ['only in f', 'only in g']), bloom_maybe_has_many('g', ['only in f', 'only in g']));
bloom_clear('f');
var_dump(count_no('g', keys('k', 1000)));
bloom_drop('f');
var_dump(count_no('g', keys('k', 1000)), bloom_reserve('g', 5000, 0.01, 0, seed: 'fixed'));
done();
?>
--EXPECT--
bool(true)
array(2) {
  [0]=>
  string(1) "f"
  [1]=>
  string(1) "g"
}
int(0)
array(2) {
  [0]=>
  bool(true)
  [1]=>
  bool(false)
}
array(2) {
  [0]=>
  bool(false)
  [1]=>
  bool(true)
}
int(0)
int(0)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

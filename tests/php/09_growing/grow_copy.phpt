--TEST--
A copy of a filter that has grown has all of its layers, and grows by itself; a rename keeps them
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/grow_copy.seg
bloomshm.filter_memory=3M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 100, seed: 'fixed');
bloom_add_many('f', keys('k', 40000));
$of = fn (string $name): array => array_diff_key(bloom_info($name), array_flip(['name', 'generation', 'published_at', 'questions', 'maybes']));
var_dump(bloom_copy('f', 'g'));
check_same($of('f'), $of('g'), 'bloom_info() of the copy');
check(bloom_maybe_has_many('f', keys('x', 20000)) === bloom_maybe_has_many('g', keys('x', 20000)), 'the same answers');
$before = $of('f');
bloom_add_many('g', keys('only in g ', 40000));
check_same($before, $of('f'), 'the original');
check(count(bloom_info('g')['layers']) > count($before['layers']), 'the copy has grown');

$before = $of('g');
var_dump(bloom_rename('g', 'h'), bloom_list());
check_same($before, $of('h'), 'bloom_info() after the rename');
check_same(0, count_no('h', [...keys('k', 40000), ...keys('only in g ', 40000)]), 'denied');
bloom_add_many('h', keys('more ', 100_000));
check_same(0, count_no('h', [...keys('k', 40000), ...keys('only in g ', 40000), ...keys('more ', 100_000)]), 'denied');
bloom_drop('f');
bloom_drop('h');
check_same(bloom_status()['filter_bytes'], free_bytes(), 'free bytes');
done();
?>
--EXPECT--
bool(true)
bool(true)
array(2) {
  [0]=>
  string(1) "f"
  [1]=>
  string(1) "h"
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

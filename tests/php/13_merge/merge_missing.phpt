--TEST--
A union under a name without a filter, and of copies, whose seed is not known
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/merge_missing.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('a', 1000, expansion: 0);
bloom_add_many('a', keys('a-', 300));
bloom_copy('a', 'b');
bloom_add_many('b', keys('b-', 300));
var_dump(bloom_merge('new', 'a', 'b'), bloom_info('new')['capacity'], bloom_info('new')['type']);
check_same(0, count_no('new', [...keys('a-', 300), ...keys('b-', 300)]), 'denied');
// Of one alone it is a copy.
var_dump(bloom_merge('one', 'b'), bloom_info('one')['items'] === bloom_info('b')['items']);
check(bloom_maybe_has_many('one', keys('x', 5000)) === bloom_maybe_has_many('b', keys('x', 5000)), 'the same answers');
// The target may be named as a source too, but must stand then.
show_thrown(fn () => bloom_merge('none', 'a', 'none'), fn () => bloom_merge('none', 'none', 'a'), fn () => bloom_merge('a', 'b', 'a'));
var_dump(bloom_ready('none'));
// Loaded filters with one seed and room for the same.
bloom_load('x', keys('x', 700), capacity: 3000, expansion: 0, seed: 'shared');
bloom_load('y', keys('y', 800), capacity: 3000, expansion: 0, seed: 'shared');
var_dump(bloom_merge('x', 'y'), count_no('x', [...keys('x', 700), ...keys('y', 800)]));
done();
?>
--EXPECTF--
bool(true)
int(1000)
string(5) "fixed"
bool(true)
bool(true)
BloomShm\Exception NOT_FOUND: filter "none" %s
BloomShm\Exception NOT_FOUND: filter "none" %s
nothing thrown, returned true
bool(false)
bool(true)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

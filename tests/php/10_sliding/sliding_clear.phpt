--TEST--
bloom_clear() of a sliding filter forgets everything; rename, copy and drop treat it like any other
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/sliding_clear.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 10000, window: 36_000_000, seed: 'fixed');
bloom_add_many('f', keys('k', 3000));
var_dump(bloom_copy('f', 'g'), bloom_rename('g', 'h'), bloom_list());
check_same(0, count_no('h', keys('k', 3000)), 'denied by the copy');
foreach (['type', 'window', 'capacity', 'items', 'bytes', 'estimated_error_rate'] as $key) {
    check_same(bloom_info('f')[$key], bloom_info('h')[$key], "$key of the copy");
}
var_dump(bloom_clear('f'), bloom_ready('f'), bloom_info('f')['items'], bloom_info('f')['fill']);
check_same(0, count_yes('f', keys('k', 3000)), 'found after the clear');
check_same(0, count_no('h', keys('k', 3000)), 'denied by the copy');
var_dump(bloom_add('f', 'k1'), bloom_maybe_has('f', 'k1'), bloom_maybe_has('f', 'k2'));
var_dump(bloom_reserve('f', 10000, window: 36_000_000, seed: 'fixed'));
// Cleared again and again.
for ($i = 0; $i < 20; $i++) {
    check_same(true, bloom_clear('f'), 'bloom_clear()');
    check_same(0, count_yes('f', ['k1', "round $i"]), "found in round $i");
    bloom_add('f', "round $i");
    check(bloom_maybe_has('f', "round $i"), "denied in round $i");
}
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
bool(true)
bool(true)
int(0)
float(0)
bool(true)
bool(true)
bool(false)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

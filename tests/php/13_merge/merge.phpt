--TEST--
bloom_merge(): the union, into what stands or what does not
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/merge.seg
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach (['a', 'b', 'c'] as $name) {
    bloom_reserve($name, 20000, expansion: 0, seed: 'shared');
    bloom_add_many($name, keys("$name-", 5000));
}
var_dump(bloom_merge('a', 'b', 'c'), bloom_merge('new', 'b', 'c'), bloom_merge('a', 'a'), bloom_merge('a'));
foreach (['a', 'b', 'c'] as $name) {
    check_same(0, count_no('a', keys("$name-", 5000)), "denied $name");
}
check_same(0, count_no('new', keys('c-', 5000)), 'denied in new');
check(count_no('new', keys('a-', 5000)) > 4800, 'not in new');
check(abs(bloom_info('a')['items'] - 15000) < 300, 'items ' . bloom_info('a')['items']);
bloom_load('d', keys('d', 100), expansion: 0, seed: 'shared', capacity: 20000);
var_dump(bloom_merge('b', 'd'), count_no('b', keys('d', 100)), bloom_verify());
done();
?>
--EXPECTF--
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
int(0)
array(0) {
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

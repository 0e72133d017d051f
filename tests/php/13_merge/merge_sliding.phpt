--TEST--
A union of sliding filters has the keys of all their windows
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/merge_sliding.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach (['a', 'b'] as $name) {
    bloom_reserve($name, 10000, window: 36_000_000, seed: 'shared');
    bloom_add_many($name, [...keys("$name-", 2000), ...keys('common ', 1000)]);
}
var_dump(bloom_merge('a', 'b'), bloom_merge('new', 'b', 'a'), bloom_info('new')['type'], bloom_info('new')['window']);
foreach (['a', 'new'] as $name) {
    check_same(0, count_no($name, [...keys('a-', 2000), ...keys('b-', 2000), ...keys('common ', 1000)]), "denied by $name");
    $items = bloom_info($name)['items'];
    check(abs($items - 5000) < 200, "items: $items");
    check(bloom_add($name, 'later') && bloom_maybe_has($name, 'later'), 'it goes on');
}
check_same(0, count_no('b', keys('b-', 2000)), 'denied by b');
check(count_yes('b', keys('a-', 2000)) < 40, 'b has stayed as it was');
// A window of its own.
bloom_reserve('other', 10000, window: 36_000_001, seed: 'shared');
show_thrown(fn () => bloom_merge('a', 'other'));
done();
?>
--EXPECTF--
bool(true)
bool(true)
string(7) "sliding"
int(36000000)
BloomShm\Exception INCOMPATIBLE: filter "other" cannot be merged %s window%S
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
The union has the keys and the bits of all its sources, which stay as they are
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/merge_fixed.seg
bloomshm.filter_memory=2M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach (['a', 'b', 'c', 'all'] as $name) {
    bloom_reserve($name, 20000, 0.02, 0, seed: 'shared');
}
foreach (['a', 'b', 'c'] as $name) {
    bloom_add_many($name, [...keys("$name-", 4000), ...keys('common ', 2000)]);
    bloom_add_many('all', [...keys("$name-", 4000), ...keys('common ', 2000)]);
}
$of = fn (string $name): array => array_diff_key(bloom_info($name), array_flip(['name', 'generation', 'published_at', 'items', 'layers', 'bits_per_key']));
[$b, $c] = [bloom_info('b'), bloom_info('c')];
var_dump(bloom_merge('a', 'b', 'c'));
check_same($of('all'), $of('a'), 'bloom_info()');
check(bloom_maybe_has_many('a', keys('absent ', 50000)) === bloom_maybe_has_many('all', keys('absent ', 50000)), 'the same answers');
check_same([$b, $c], [bloom_info('b'), bloom_info('c')], 'the sources');
// 14,000 different keys: the bits know it, the sum of the counts does not.
$items = bloom_info('a')['items'];
check(abs($items - 14000) < 280, "items: $items");
// It goes on as any filter: adds, and the same union again, which changes nothing any more.
var_dump(bloom_add('a', 'later on'), bloom_merge('a', 'b', 'b', 'a', 'c'));
check_same(0, count_no('a', ['later on', ...keys('a-', 4000), ...keys('b-', 4000), ...keys('c-', 4000), ...keys('common ', 2000)]), 'denied');
check(abs(bloom_info('a')['items'] - 14001) < 280, 'items: ' . bloom_info('a')['items']);
foreach (['a', 'b', 'c', 'all'] as $name) {
    bloom_drop($name);
}
check_same(bloom_status()['filter_bytes'], free_bytes(), 'free bytes');
done();
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
Unions of filters that have grown differently far: all keys, and they go on growing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/merge_growing.seg
bloomshm.filter_memory=8M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach (['small' => 500, 'middle' => 9000, 'large' => 60000] as $name => $count) {
    bloom_reserve($name, 100, seed: 'shared');
    bloom_add_many($name, keys("$name-", $count));
}
bloom_copy('small', 'a');
bloom_copy('large', 'b');
var_dump(bloom_merge('a', 'large', 'middle'), bloom_merge('b', 'small', 'middle'), bloom_merge('c', 'small', 'middle'));
foreach (['a', 'b'] as $name) {
    check_same(0, count_no($name, [...keys('small-', 500), ...keys('middle-', 9000), ...keys('large-', 60000)]), "denied by $name");
    $info = bloom_info($name);
    check_same(array_column(bloom_info('large')['layers'], 'partitions'), array_column($info['layers'], 'partitions'), 'partitions');
    check(abs($info['items'] - 69500) < 1400, "items: {$info['items']}");
    check_same($info['items'], array_sum(array_column($info['layers'], 'items')), 'items of the layers');
    bloom_add_many($name, keys('more ', 60000));
    check_same(0, count_no($name, [...keys('small-', 500), ...keys('middle-', 9000), ...keys('large-', 60000), ...keys('more ', 60000)]), "denied by $name");
    check(count(bloom_info($name)['layers']) > count($info['layers']), 'it has grown');
}
check_same(0, count_no('c', [...keys('small-', 500), ...keys('middle-', 9000)]), 'denied by c');
check_same(count(bloom_info('middle')['layers']), count(bloom_info('c')['layers']), 'layers of c');
// What was in both sources is there once.
bloom_merge('d', 'large', 'a');
check(abs(bloom_info('d')['items'] - 129_500) < 4000, 'items: ' . bloom_info('d')['items']);
// Not those that grow by another factor, or began larger.
bloom_reserve('by 4', 100, expansion: 4, seed: 'shared');
bloom_add_many('by 4', keys('k', 9000));
bloom_reserve('began larger', 50000, seed: 'shared');
show_thrown(fn () => bloom_merge('large', 'by 4'), fn () => bloom_merge('large', 'began larger'));
done();
?>
--EXPECTF--
bool(true)
bool(true)
bool(true)
BloomShm\Exception INCOMPATIBLE: filter "by 4" cannot be merged %s geometry%S
BloomShm\Exception INCOMPATIBLE: filter "began larger" cannot be merged %s geometry%S
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

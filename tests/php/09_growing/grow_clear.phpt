--TEST--
bloom_clear() of a filter that has grown leaves its first layer and gives the others back
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/grow_clear.seg
bloomshm.filter_memory=2M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 20000, seed: 'fixed');
$of = fn (): array => array_diff_key(bloom_info('f'), array_flip(['generation', 'published_at']));
$empty = $of();
$free = free_bytes();
for ($i = 0; $i < 3; $i++) {
    bloom_add_many('f', keys("k$i-", 100_000));
    check(count(bloom_info('f')['layers']) === 3, 'it has grown');
    check_same($free + $empty['bytes'] - bloom_info('f')['bytes'], free_bytes(), 'free bytes');
    check_same(true, bloom_clear('f'), 'bloom_clear()');
    check_same($empty, $of(), 'bloom_info()');
    check_same($free, free_bytes(), 'free bytes');
    check_same(0, count_yes('f', keys("k$i-", 100_000)), 'yes');
}
check_same(false, bloom_reserve('f', 20000, seed: 'fixed'), 'the same parameters');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

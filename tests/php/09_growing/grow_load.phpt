--TEST--
Keys added while a load runs are in the new filter, also if the old one has to grow for them
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/grow_load.seg
bloomshm.filter_memory=2M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 100);
bloom_add_many('f', keys('old ', 3000));
$info = bloom_load('f', (function () {
    yield from keys('new ', 1000);
    for ($i = 0; $i < 10; $i++) {
        bloom_add_many('f', keys("during $i-", 1000));
        yield "between $i";
    }
    bloom_add('f', 'last');
})(), 0.000001, seed: 'fixed');
check_same(0, count_no('f', [...keys('new ', 1000), ...keys('between ', 10), 'last']), 'denied');
for ($i = 0; $i < 10; $i++) {
    check_same(0, count_no('f', keys("during $i-", 1000)), "denied of $i");
}
check_same(0, count_yes('f', keys('old ', 3000)), 'old keys');
check_same(1, count($info['layers']), 'layers');
check_same(11011, bloom_info('f')['items'], 'items');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

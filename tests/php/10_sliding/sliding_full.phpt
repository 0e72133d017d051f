--TEST--
A sliding filter is never FULL: more keys than planned show in the estimated rate
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/sliding_full.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 1000, window: 36_000_000, seed: 'fixed');
$last = 0;
for ($i = 0; $i < 20; $i++) {
    bloom_add_many('f', keys("k$i-", 500));
    bloom_insert('f', keys("k$i-", 500));
    bloom_add('f', "single $i");
    $rate = bloom_info('f')['estimated_error_rate'];
    check($rate > $last, "estimated $rate, it was $last");
    $last = $rate;
}
for ($i = 0; $i < 20; $i++) {
    check_same(0, count_no('f', [...keys("k$i-", 500), "single $i"]), "denied of $i");
}
check($last > 0.05, "estimated $last");
$measured = count_yes('f', keys('absent ', 20000)) / 20000;
check(abs($measured - $last) < 0.03, "measured $measured, estimated $last");
var_dump(bloom_info('f')['capacity'], bloom_info('f')['bytes']);
done();
?>
--EXPECT--
int(1000)
int(8192)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
A load keeps every error rate, and the estimate is what is measured
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_error_rates.seg
bloomshm.filter_memory=2M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$absent = keys('absent ', 200000);
foreach ([0.5, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0001, 0.00001, 0.000001] as $rate) {
    $info = bloom_load('f', keys('k', 70000), $rate, seed: 'fixed');
    check_same($rate, $info['error_rate'], 'error_rate');
    check_same(0, count_no('f', keys('k', 70000)), "denied at $rate");
    check($info['estimated_error_rate'] <= $rate, "estimated at $rate: {$info['estimated_error_rate']}");
    $expected = $info['estimated_error_rate'] * 200000;
    $measured = count_yes('f', $absent);
    check(abs($measured - $expected) <= 6.5 * sqrt($expected) + 3, "at $rate $measured of 200000, estimated $expected");
}
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

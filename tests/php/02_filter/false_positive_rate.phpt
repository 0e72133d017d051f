--TEST--
A reserved filter filled to its capacity keeps its error rate, and estimates it
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/false_positive_rate.seg
bloomshm.filter_memory=2M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$absent = keys('absent ', 200000);
foreach ([0.5, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0001, 0.00001, 0.000001] as $rate) {
    bloom_reserve('f', 60000, $rate, 0, seed: 'fixed');
    // Keys that are taken for members need no room: at these rates the filter never gets full.
    bloom_add_many('f', keys('k', 60000));
    check_same(0, count_no('f', keys('k', 60000)), "denied at $rate");
    $info = bloom_info('f');
    check($info['estimated_error_rate'] <= $rate, "estimated at $rate: {$info['estimated_error_rate']}");
    $expected = $info['estimated_error_rate'] * 200000;
    $measured = count_yes('f', $absent);
    check(abs($measured - $expected) <= 6.5 * sqrt($expected) + 3, "at $rate $measured of 200000, estimated $expected");
    check($info['worst_partition_error_rate'] >= $info['estimated_error_rate'], "the worst partition at $rate");
    bloom_drop('f');
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

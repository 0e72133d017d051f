--TEST--
A growing filter keeps its error rate at every size, whatever it is and however it grows
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/grow_rates.seg
bloomshm.filter_memory=16M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ([[0.1, 2], [0.01, 4], [0.001, 2], [0.01, 32], [0.5, 3]] as [$rate, $expansion]) {
    bloom_reserve('f', 100, $rate, $expansion, seed: 'fixed');
    $count = 0;
    for ($part = 250; $count < 64000; $part = $count) {
        bloom_add_many('f', array_slice(keys('k', $count + $part), $count));
        $count += $part;
        $what = "$rate by $expansion with $count keys";
        $estimated = bloom_info('f')['estimated_error_rate'];
        check($estimated <= $rate, "$what: estimated $estimated");
        $measured = count_yes('f', keys('absent ', 20000));
        $expected = $estimated * 20000;
        check(abs($measured - $expected) <= 6.5 * sqrt($expected) + 3, "$what: measured $measured, estimated $expected");
    }
    check_same(0, count_no('f', keys('k', $count)), "$rate by $expansion: denied");
    $sizes = array_column(bloom_info('f')['layers'], 'partitions');
    for ($i = 1; $i < count($sizes); $i++) {
        check_same($expansion * $sizes[$i - 1], $sizes[$i], "$rate by $expansion: partitions of layer $i");
    }
    check(count($sizes) > 1, "$rate by $expansion: it has grown");
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

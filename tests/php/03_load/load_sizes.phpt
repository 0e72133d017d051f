--TEST--
A load keeps the error rate at every size, with a hint, without, and with a wrong one
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_sizes.seg
bloomshm.filter_memory=2M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ([1, 2, 10, 1000, 6000, 6815, 7000, 13000, 20000, 50000, 99999] as $count) {
    foreach ([null, 1, $count, $count * 3] as $capacity) {
        $info = bloom_load('f', (fn () => yield from keys('k', $count))(), 0.01, $capacity, seed: 'fixed');
        $what = "$count keys, hint " . json_encode($capacity);
        check_same($count, $info['keys'], "keys: $what");
        check($info['estimated_error_rate'] <= 0.01, "rate: $what: {$info['estimated_error_rate']}");
        check($info['capacity'] >= $count, "capacity: $what: {$info['capacity']}");
        check($info['items'] <= $count && $info['items'] >= 0.98 * $count, "items: $what: {$info['items']}");
        check_same(0, count_no('f', keys('k', $count)), "denied: $what");
    }
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

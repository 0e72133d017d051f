--TEST--
A load without a hint needs no more room than the filter it makes
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_unhinted_uses_what_is_free.seg
bloomshm.filter_memory=2M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// 1.28 MB of 2: neither twice the size nor a size guessed too large would fit.
foreach ([null, 10, 1000] as $capacity) {
    $info = bloom_load('f', (function () {
        for ($i = 0; $i < 1000000; $i++) {
            yield "k$i";
        }
    })(), 0.01, $capacity, seed: 'fixed');
    check($info['keys'] === 1000000 && $info['estimated_error_rate'] <= 0.01, json_encode($info));
    check_same(0, count_no('f', keys('k', 100000)), 'denied');
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

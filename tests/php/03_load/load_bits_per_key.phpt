--TEST--
Memory of a million keys at three error rates
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_bits_per_key.seg
bloomshm.filter_memory=5M
memory_limit=256M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$keys = keys('key number ', 1000000);
foreach (['0.01' => 10.3, '0.001' => 15.2, '0.0001' => 20.4] as $rate => $bits) {
    foreach ([null, 1000000] as $capacity) {
        $info = bloom_load('f', $keys, (float) $rate, $capacity, expansion: 0, seed: 'fixed');
        check($info['bytes'] * 8 / 1000000 <= $bits, "$rate takes " . $info['bytes'] * 8 / 1000000 . ' bits a key');
        check($info['estimated_error_rate'] <= (float) $rate, "$rate gives {$info['estimated_error_rate']}");
        bloom_drop('f');
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

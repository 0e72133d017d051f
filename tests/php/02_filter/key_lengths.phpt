--TEST--
Keys of every length from 0 to 600 bytes, differing in one byte
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/key_lengths.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 10000, expansion: 0, seed: 'fixed');
$wrong = 0;
for ($length = 0; $length <= 600; $length++) {
    $wrong += (int) !bloom_add('f', str_repeat('k', $length));
}
for ($length = 0; $length <= 600; $length++) {
    $key = str_repeat('k', $length);
    $wrong += (int) !bloom_maybe_has('f', $key);
    if ($length > 0) {
        $key[$length - 1] = 'l';
        $wrong += (int) bloom_maybe_has('f', $key);
        $key[$length - 1] = 'k';
        $key[0] = 'l';
        $wrong += (int) bloom_maybe_has('f', $key);
    }
}
var_dump($wrong);
done();
?>
--EXPECT--
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

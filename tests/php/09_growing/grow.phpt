--TEST--
A filter made for 100 keys takes 300,000: all found, the rate kept, each key counted once
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/grow.seg
bloomshm.filter_memory=4M
memory_limit=256M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 100, seed: 'fixed');
$new = 0;
foreach (array_chunk(keys('k', 300_000), 700) as $i => $chunk) {
    if ($i % 2 === 0) {
        $new += bloom_add_many('f', $chunk);
        continue;
    }
    foreach ($chunk as $key) {
        $new += (int) bloom_add('f', $key);
    }
}
check_same(0, count_no('f', keys('k', 300_000)), 'denied');
$info = bloom_info('f');
check_same($new, $info['items'], 'items');
check($new > 294_000 && $new <= 300_000, "new: $new");
check($info['capacity'] >= $new, "capacity {$info['capacity']}");
check($info['estimated_error_rate'] <= 0.01, "estimated {$info['estimated_error_rate']}");
$measured = count_yes('f', keys('absent ', 200_000));
$expected = $info['estimated_error_rate'] * 200_000;
check($measured <= 2000, "$measured of 200,000 absent keys");
check(abs($measured - $expected) <= 6.5 * sqrt($expected) + 3, "measured $measured, estimated $expected");

$layers = $info['layers'];
var_dump(count($layers));
foreach (['capacity', 'items', 'partitions', 'bytes'] as $sum) {
    check_same($info[$sum], array_sum(array_column($layers, $sum)), $sum);
}
foreach ($layers as $i => $layer) {
    check_same(2 ** $i, $layer['partitions'], "partitions of layer $i");
    check_same($layer['partitions'] * 8192, $layer['bytes'], "bytes of layer $i");
    check($layer['items'] <= $layer['capacity'], "layer $i: {$layer['items']} of {$layer['capacity']}");
    check($i === count($layers) - 1 || $layer['items'] > 0.95 * $layer['capacity'], "layer $i: {$layer['items']} of {$layer['capacity']}");
    check($layer['estimated_error_rate'] <= 1.05 * $layer['error_rate'], "layer $i: {$layer['estimated_error_rate']}");
}
check(array_sum(array_column($layers, 'error_rate')) <= 0.01, 'the shares of the error');
check_same(end($layers)['hashes'], $info['hashes'], 'hashes');
check_same(8 * $info['bytes'] / $info['items'], $info['bits_per_key'], 'bits_per_key');
done();
?>
--EXPECT--
int(7)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

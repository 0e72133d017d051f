--TEST--
bloom_info() of filters that slide and count: fill, rates and keys that the bits show
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/info_kinds.seg
bloomshm.filter_memory=1M
memory_limit=256M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('sliding', 20000, 0.01, window: 36_000_000, seed: 'fixed');
bloom_reserve('counting', 20000, 0.01, counting: true, seed: 'fixed');
foreach (['sliding' => 6000, 'counting' => 20000] as $name => $count) {
    $last = bloom_info($name);
    check_same([0, 0.0, 0.0, 0.0, null], [$last['items'], $last['fill'], $last['estimated_error_rate'], $last['worst_partition_error_rate'], $last['bits_per_key']], $name);
    foreach ([0.1, 0.5, 1.0, 1.5] as $part) {
        if ($name === 'counting' && $part > 1.0) {
            break;
        }
        bloom_add_many($name, keys('k', (int) ($part * $count)));
        $info = bloom_info($name);
        $what = "$name at $part";
        check(abs($info['items'] - $part * $count) <= 0.02 * $count, "$what: items {$info['items']}");
        check($info['fill'] > $last['fill'] && $info['fill'] < 0.6, "$what: fill {$info['fill']}");
        check($info['worst_partition_error_rate'] >= $info['estimated_error_rate'], "$what: worst {$info['worst_partition_error_rate']}");
        check_same(8 * $info['bytes'] / $info['items'], $info['bits_per_key'], "$what: bits_per_key");
        $expected = $info['estimated_error_rate'] * 200_000;
        $measured = count_yes($name, keys('absent ', 200_000));
        check(abs($measured - $expected) <= 6.5 * sqrt($expected) + 3, "$what: measured $measured, estimated $expected");
        foreach (['items', 'hashes', 'partitions', 'bytes', 'fill', 'estimated_error_rate', 'capacity', 'error_rate'] as $key) {
            check_same($info[$key], $info['layers'][0][$key], "$what: $key of the layer");
        }
        $last = $info;
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

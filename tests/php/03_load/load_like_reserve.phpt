--TEST--
A loaded filter has the bits of one that is reserved with its capacity and filled
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_like_reserve.seg
bloomshm.filter_memory=2M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// The size found in one pass must not cost exactness.
$wrong = fn (string $filter) => array_keys(array_filter(bloom_maybe_has_many($filter, keys('absent ', 50000))));
foreach ([10, 5000, 40000, 100000] as $count) {
    $loaded = bloom_load('loaded', keys('k', $count), 0.05, expansion: 0, seed: 'fixed');
    bloom_reserve('reserved', $loaded['capacity'], 0.05, 0, seed: 'fixed');
    bloom_add_many('reserved', keys('k', $count));
    $reserved = bloom_info('reserved');
    if ($loaded['partitions'] === $reserved['partitions'] && $loaded['hashes'] === $reserved['hashes']) {
        check_same($reserved['fill'], $loaded['fill'], "fill with $count keys");
        check($wrong('loaded') === $wrong('reserved'), "the same wrong answers with $count keys");
    }
    check(abs($loaded['fill'] - $reserved['fill']) < 0.2, "fill with $count keys: {$loaded['fill']}, {$reserved['fill']}");
    bloom_drop('loaded');
    bloom_drop('reserved');
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

--TEST--
bloom_load() with like: keeps seed, parameters, and while the keys fit the size, of the filter that stands
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_like.seg
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// The wrong answers tell the bits, and so the seed.
$wrong = fn () => array_keys(array_filter(bloom_maybe_has_many('f', keys('absent ', 20000))));
$size = fn (array $info) => array_intersect_key($info, array_flip(['type', 'error_rate', 'capacity', 'partitions', 'hashes', 'expansion']));

$first = bloom_load('f', keys('k', 40000), 0.02, expansion: 4, like: true);
check($first['capacity'] >= 50000, "room for the next loads: {$first['capacity']}");
$before = $wrong();
$again = bloom_load('f', keys('k', 40000), like: true);
check_same($size($first), $size($again), 'size and parameters');
check_same($before, $wrong(), 'the same bits');
check_same($size($first), $size(bloom_load('f', keys('k', $first['capacity']), like: true)), 'as many keys as fit');
check_same($size($first), $size(bloom_load('f', keys('k', 40000), 0.02, expansion: 4, like: true)), 'named, and the same');

$file = __DIR__ . '/load_like.txt';
file_put_contents($file, implode("\n", keys('k', 40000)));
check_same($size($first), $size(bloom_load_file('f', $file, like: true)), 'from a file');
check_same($before, $wrong(), 'the same bits from a file');
unlink($file);

$larger = bloom_load('f', keys('k', $first['capacity'] + 1), like: true);
check($larger['capacity'] >= ($first['capacity'] + 1) / 0.8, "made anew: {$larger['capacity']}");
bloom_load('f', keys('k', 40000), 0.02, expansion: 4);
check($before !== $wrong(), 'without it another seed');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_info() tells the truth
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/info_values.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$before = microtime(true);
bloom_reserve('f', 20000, 0.001, 0, seed: 'fixed');
$empty = bloom_info('f');
var_dump($empty['bits_per_key'], $empty['items'], $empty['fill'], $empty['estimated_error_rate'], $empty['worst_partition_error_rate']);
$new = bloom_add_many('f', keys('k', 20000));
$info = bloom_info('f');
var_dump($info['name'], $info['type'], $info['error_rate'], $info['capacity'], $info['items'] === $new);
var_dump($info['expansion'], $info['window'], $info['false_positives']);
check_same($info['partitions'] * 8192, $info['bytes'], 'bytes');
check(abs($info['bits_per_key'] - 8 * $info['bytes'] / $info['items']) < 1e-9, 'bits_per_key');
check($info['fill'] > 0.2 && $info['fill'] < 0.7, "fill {$info['fill']}");
check($info['hashes'] >= 6 && $info['hashes'] <= 16, "hashes {$info['hashes']}");
check($info['estimated_error_rate'] > 0.00005 && $info['estimated_error_rate'] <= 0.001, "estimated {$info['estimated_error_rate']}");
check($info['worst_partition_error_rate'] >= $info['estimated_error_rate'], 'worst_partition_error_rate');
check($info['published_at'] > $before - 600 && $info['published_at'] < microtime(true) + 600, 'published_at');
check_same(1, count($info['layers']), 'layers');
foreach (['capacity', 'items', 'error_rate', 'hashes', 'partitions', 'bytes', 'fill', 'estimated_error_rate'] as $key) {
    check_same($info[$key], $info['layers'][0][$key], "$key of the layer");
}
done();
?>
--EXPECT--
NULL
int(0)
float(0)
float(0)
float(0)
string(1) "f"
string(5) "fixed"
float(0.001)
int(20000)
bool(true)
int(0)
int(0)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

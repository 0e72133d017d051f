--TEST--
bloom_clear() takes the keys out, the parameters stay
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/clear.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$params = fn () => array_intersect_key(bloom_info('f'), array_flip(['type', 'error_rate', 'capacity', 'expansion', 'hashes', 'partitions', 'bytes']));
bloom_reserve('f', 20000, 0.001, 0, seed: 'fixed');
bloom_add_many('f', keys('k', 20000));
$before = $params();
var_dump(bloom_clear('f'), count_yes('f', keys('k', 20000)));
check_same($before, $params(), 'parameters');
$info = bloom_info('f');
var_dump($info['items'], $info['fill'], $info['estimated_error_rate'], $info['bits_per_key'], bloom_ready('f'));
// The seed too: it is the same filter, and takes as many keys again.
var_dump(bloom_reserve('f', 20000, 0.001, 0, seed: 'fixed'), bloom_add_many('f', keys('new ', 19000)) > 18900, count_no('f', keys('new ', 19000)));
var_dump(bloom_clear('missing'));
done();
?>
--EXPECT--
bool(true)
int(0)
int(0)
float(0)
float(0)
NULL
bool(true)
bool(false)
bool(true)
int(0)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

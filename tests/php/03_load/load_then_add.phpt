--TEST--
Adds to a loaded filter beyond its capacity: it grows, and the rate stays what was asked for
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_then_add.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$before = bloom_load('f', keys('k', 20000), seed: 'fixed');
$added = bloom_add_many('f', keys('more ', 20000));
$after = bloom_info('f');
var_dump(count_no('f', [...keys('k', 20000), ...keys('more ', 20000)]), $after['items'] === $before['items'] + $added);
check(count($before['layers']) === 1 && count($after['layers']) > 1, 'layers');
check($after['estimated_error_rate'] > $before['estimated_error_rate'], 'estimated_error_rate');
check($after['estimated_error_rate'] <= 0.01, 'error_rate');
$expected = $after['estimated_error_rate'] * 100000;
$measured = count_yes('f', keys('absent ', 100000));
check(abs($measured - $expected) <= 6.5 * sqrt($expected) + 3, "$measured of 100000, estimated $expected");
done();
?>
--EXPECT--
int(0)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

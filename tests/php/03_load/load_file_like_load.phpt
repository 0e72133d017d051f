--TEST--
bloom_load_file() makes the filter that bloom_load() makes of the same keys
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_like_load.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

file_put_contents(scratch(), implode("\n", keys('k', 30000)));
$of_file = bloom_load_file('file', scratch(), 0.02, expansion: 0, seed: 'fixed');
$of_array = bloom_load('array', keys('k', 30000), 0.02, expansion: 0, seed: 'fixed');
foreach (['keys', 'capacity', 'items', 'type', 'partitions', 'hashes', 'bytes', 'fill', 'estimated_error_rate'] as $key) {
    check_same($of_array[$key], $of_file[$key], $key);
}
check(bloom_maybe_has_many('file', keys('x', 20000)) === bloom_maybe_has_many('array', keys('x', 20000)), 'the same answers');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
One call with far more keys than there is room for: the filter grows as often as it has to
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/grow_one_call.seg
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('many', 100);
$new = bloom_add_many('many', keys('k', 50000));
check_same($new, bloom_info('many')['items'], 'items of add_many');
check($new > 49000, "new: $new");
check_same(0, count_no('many', keys('k', 50000)), 'denied');

$fresh = bloom_insert('insert', keys('k', 50000));
check_same(range(0, 49999), array_keys($fresh), 'array keys');
check_same(count(array_filter($fresh)), bloom_info('insert')['items'], 'items of insert');
check_same(0, count_no('insert', keys('k', 50000)), 'denied');
check_same(bloom_info('many')['partitions'], bloom_info('insert')['partitions'], 'partitions');

// The same keys offered many times in one call are new once.
bloom_reserve('same', 100, seed: 'fixed');
check_same(3000, bloom_add_many('same', array_merge(...array_fill(0, 20, keys('k', 3000)))), 'new');
check_same(1, count(bloom_info('same')['layers']), 'layers');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

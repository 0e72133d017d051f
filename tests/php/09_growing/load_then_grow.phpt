--TEST--
A load with room for what will come grows later than one without
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_then_grow.seg
bloomshm.filter_memory=2M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ([null, 50000] as $capacity) {
    $info = bloom_load('f', keys('k', 10000), 0.01, $capacity);
    check_same([1, 'scalable'], [count($info['layers']), $info['type']], 'the load');
    $new = $info['items'] + bloom_add_many('f', keys('more ', 30000));
    $grown = bloom_info('f');
    check_same($new, $grown['items'], 'items');
    check_same(0, count_no('f', [...keys('k', 10000), ...keys('more ', 30000)]), 'denied');
    check($grown['estimated_error_rate'] <= 0.01, "estimated {$grown['estimated_error_rate']}");
    var_dump(count($grown['layers']));
}
// bloom_load_file() alike.
file_put_contents(scratch(), implode("\n", keys('line ', 10000)));
bloom_load_file('f', scratch(), expansion: 4);
bloom_add_many('f', keys('more ', 30000));
$sizes = array_column(bloom_info('f')['layers'], 'partitions');
var_dump(count($sizes), intdiv($sizes[1], $sizes[0]));
// Not one that must not grow.
bloom_load_file('f', scratch(), expansion: 0);
show_thrown(fn () => bloom_add_many('f', keys('more ', 30000)));
done();
?>
--EXPECTF--
int(3)
int(1)
int(2)
int(4)
BloomShm\Exception FULL: %s
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

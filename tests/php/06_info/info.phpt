--TEST--
bloom_info() has exactly the documented keys, of their types
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/info.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('loaded', keys('k', 5000));
bloom_reserve('fixed', 5000, expansion: 0);
bloom_reserve('sliding', 5000, window: 36_000_000);
bloom_reserve('counting', 5000, counting: true);
bloom_reserve('small', 100);
foreach (['fixed', 'sliding', 'counting', 'small'] as $name) {
    bloom_add($name, 'a');
}
foreach (['loaded', 'fixed', 'sliding', 'counting', 'small'] as $name) {
    $types = array_map(get_debug_type(...), bloom_info($name));
    $layers = array_map(fn ($layer) => array_map(get_debug_type(...), $layer), bloom_info($name)['layers']);
    $of[$name] = [$types, $layers];
}
foreach ($of as $name => $described) {
    check_same($of['loaded'], $described, $name);
}
bloom_add_many('small', keys('k', 8000));
check_same(array_fill(0, 2, $layers[0]), array_map(fn ($layer) => array_map(get_debug_type(...), $layer), bloom_info('small')['layers']), 'layers');
echo json_encode($types), "\n";
echo json_encode($layers), "\n";
?>
--EXPECT--
{"name":"string","type":"string","error_rate":"float","capacity":"int","items":"int","expansion":"int","window":"int","hashes":"int","partitions":"int","bytes":"int","bits_per_key":"float","fill":"float","estimated_error_rate":"float","worst_partition_error_rate":"float","generation":"int","published_at":"float","questions":"int","maybes":"int","fetches":"array","false_positives":"int","source":"null","version":"null","lag":"null","max_lag":"null","stale":"bool","unsent":"null","layers":"array"}
[{"capacity":"int","items":"int","error_rate":"float","hashes":"int","partitions":"int","bytes":"int","fill":"float","estimated_error_rate":"float"}]
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

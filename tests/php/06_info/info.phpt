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
bloom_reserve('reserved', 5000, expansion: 0);
bloom_add('reserved', 'a');
foreach (['loaded', 'reserved'] as $name) {
    $types = array_map(get_debug_type(...), bloom_info($name));
    $layers = array_map(fn ($layer) => array_map(get_debug_type(...), $layer), bloom_info($name)['layers']);
    $of[$name] = [$types, $layers];
}
var_dump($of['loaded'] === $of['reserved']);
echo json_encode($types), "\n";
echo json_encode($layers), "\n";
?>
--EXPECT--
bool(true)
{"name":"string","type":"string","error_rate":"float","capacity":"int","items":"int","expansion":"int","window":"int","hashes":"int","partitions":"int","bytes":"int","bits_per_key":"float","fill":"float","estimated_error_rate":"float","worst_partition_error_rate":"float","generation":"int","published_at":"float","false_positives":"int","layers":"array"}
[{"capacity":"int","items":"int","error_rate":"float","hashes":"int","partitions":"int","bytes":"int","fill":"float","estimated_error_rate":"float"}]
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_cache_classes: the memory of the store by the size of its slots
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/cache_classes.seg
bloomshm.cache_memory=4M
--FILE--
<?php
var_dump(bloom_cache_classes());

for ($i = 0; $i < 1000; $i++) {
    bloom_cache_set("short $i", 'x');
}
bloom_cache_set('middle', str_repeat('x', 1000));
bloom_cache_set('large', str_repeat('x', 100_000));
$bytes = $records = 0;
foreach (bloom_cache_classes() as $class) {
    echo implode(' ', array_keys($class)), ": $class[use]\n";
    $bytes += $class['bytes'];
    $records += $class['use'] === 'records' ? $class['used'] : 0;
    assert($class['used'] <= $class['slots']);
    assert($class['slots'] * $class['slot_bytes'] <= $class['bytes']);
}
var_dump($records);
$info = bloom_cache_info();
// What remains are the structures around the pages.
var_dump($bytes < $info['bytes_used'], $info['bytes_used'] - $bytes < 4 << 20);
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/cache_classes.seg');
?>
--EXPECTF--
array(0) {
}
use slot_bytes bytes slots used: records
%Ause slot_bytes bytes slots used: parts
%Aint(1002)
bool(true)
bool(true)

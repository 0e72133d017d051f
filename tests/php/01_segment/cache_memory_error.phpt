--TEST--
A bloomshm.cache_memory or cache_records without sense is not taken; nothing is no 0
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/cache_memory_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$code = 'bloom_cache_set("k", 1); echo json_encode(array_intersect_key(bloom_cache_info(), ["memory" => 1, "max_records" => 1]));';
$bad = [
    'bloomshm.cache_memory' => ['', '1023K', '-1', 'much'],
    'bloomshm.cache_records' => ['', '-1', 'many'],
];
$usual = Child::run($code, ['bloomshm.cache_memory' => '16M', 'bloomshm.cache_records' => '0']);
foreach ($bad as $setting => $values) {
    foreach ($values as $value) {
        remove(segment());
        $output = Child::run($code, ['bloomshm.cache_memory' => '16M', $setting => $value]);
        check(str_contains($output, "$setting must be ") && str_ends_with($output, $usual), "$setting '$value': $output");
    }
}
// 0 is.
remove(segment());
check(str_contains(Child::run($code, ['bloomshm.cache_memory' => '0']), '"max_records":0'), 'no store');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloomshm.cache_records is never exceeded by concurrent writers
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/cache_records_concurrent.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
bloomshm.cache_records=200
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$code = <<<'PHP'
    $name = trim(fgets(STDIN));
    $most = 0;
    for ($i = 0; $i < 4000; $i++) {
        bloom_cache_set("$name$i", str_repeat($name, $i % 300));
        bloom_cache_add('shared ' . $i % 300, $i);
        $most = max($most, bloom_cache_info()['records']);
    }
    echo $most, "\n";
    PHP;
$children = [];
foreach (['a', 'b', 'c', 'd'] as $name) {
    $children[$name] = new Child($code);
}
foreach ($children as $name => $child) {
    $child->say($name);
}
foreach ($children as $name => $child) {
    check_same(200, (int) $child->end(), "the most that $name saw");
}
var_dump(bloom_cache_info()['records']);
done();
?>
--EXPECT--
int(200)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

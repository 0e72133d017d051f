--TEST--
bloom_cache_append() by many processes loses none and mixes none
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/append_concurrent.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$code = <<<'PHP'
    $name = trim(fgets(STDIN));
    for ($i = 0; $i < 1000; $i++) {
        patiently(fn () => bloom_cache_append('log', "$name$i", ','));
    }
    PHP;
$children = [];
foreach (['a', 'b', 'c', 'd'] as $name) {
    $children[$name] = new Child($code);
}
foreach ($children as $name => $child) {
    $child->say($name);
}
foreach ($children as $child) {
    echo $child->end();
}
$parts = explode(',', bloom_cache_get('log'));
check_same(4000, count($parts), 'parts');
foreach (['a', 'b', 'c', 'd'] as $name) {
    check_same(keys($name, 1000), array_values(preg_grep("/^$name/", $parts)), "the parts of $name, in order");
}
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

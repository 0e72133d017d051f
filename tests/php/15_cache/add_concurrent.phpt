--TEST--
bloom_cache_add(): of many processes that add a key, one does
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/add_concurrent.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$code = <<<'PHP'
    fgets(STDIN);
    for ($i = $added = 0; $i < 2000; $i++) {
        $added += patiently(fn () => bloom_cache_add("key $i", getmypid()));
    }
    echo $added;
    PHP;
$children = [];
for ($i = 0; $i < 4; $i++) {
    $children[] = new Child($code);
}
foreach ($children as $child) {
    $child->say('go');
}
$added = array_map(fn (Child $child) => (int) $child->end(), $children);
check_same(2000, array_sum($added), 'added');
check_same(2000, bloom_cache_info()['records'], 'records');
$by = array_count_values(bloom_cache_get_many(keys('key ', 2000)));
rsort($by);
rsort($added);
check_same(array_values(array_filter($added)), $by, 'whose values are there');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

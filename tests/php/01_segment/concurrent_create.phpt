--TEST--
Processes that start at once get one sound segment
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/concurrent_create.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$children = [];
for ($i = 0; $i < 8; $i++) {
    $children[] = new Child("fgets(STDIN); bloom_load('filter $i', keys('$i-', 1000)); echo bloom_status()['filter_bytes'], PHP_EOL;");
}
foreach ($children as $child) {
    $child->say('go');
}
foreach ($children as $child) {
    check_same('1048576', $child->hear(), 'filter_bytes');
    check_same('', $child->end(), 'what the child prints more');
}
echo implode(', ', bloom_list()), "\n";
for ($i = 0; $i < 8; $i++) {
    check_same(0, count_no("filter $i", keys("$i-", 1000)), "keys denied by filter $i");
}
check_same(1, count(preg_grep('/^\.?concurrent_create\.seg/', scandir(__DIR__))), 'files');
done();
?>
--EXPECT--
filter 0, filter 1, filter 2, filter 3, filter 4, filter 5, filter 6, filter 7
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

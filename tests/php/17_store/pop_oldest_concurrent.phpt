--TEST--
bloom_cache_pop_oldest(): of many processes, each record comes to one
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/pop_oldest_concurrent.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_cache_set_many(array_combine(keys('key ', 4000), range(1, 4000)));
$code = <<<'PHP'
    fgets(STDIN);
    $popped = [];
    do {
        $pair = bloom_cache_pop_oldest(); // null also if the lock was held for too long
        $popped += $pair === null ? [] : [$pair[0] => $pair[1]];
    } while ($pair !== null || bloom_cache_info()['records'] > 0);
    echo json_encode($popped);
    PHP;
$children = [];
for ($i = 0; $i < 4; $i++) {
    $children[] = new Child($code);
}
foreach ($children as $child) {
    $child->say('go');
}
$all = [];
$count = 0;
foreach ($children as $child) {
    $popped = json_decode($child->end(), true);
    $count += count($popped);
    $all += $popped;
}
ksort($all, SORT_NATURAL);
check_same(4000, $count, 'popped');
check_same(array_combine(keys('key ', 4000), range(1, 4000)), $all, 'what was popped');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
Processes that insert into a filter that none of them has made: one is made, and every key is in it
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/insert_concurrent.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

for ($round = 0; $round < 8; $round++) {
    $inserters = [];
    for ($i = 0; $i < 4; $i++) {
        // They do not even agree on its parameters: the first one's hold.
        $inserters[] = new Child("fgets(STDIN); echo count(array_filter(patiently(fn () => bloom_insert('f', [...keys('own $i-', 500), ...keys('common ', 500)], 100 + $i)))), PHP_EOL;");
    }
    foreach ($inserters as $inserter) {
        $inserter->say('go');
    }
    $new = 0;
    foreach ($inserters as $i => $inserter) {
        $heard = $inserter->hear();
        $new += (int) $heard;
        check_same('', $inserter->end(), "round $round: after '$heard'");
        check_same(0, count_no('f', keys("own $i-", 500)), "round $round: denied of $i");
    }
    check_same(0, count_no('f', keys('common ', 500)), "round $round: denied");
    check_same($new, bloom_info('f')['items'], "round $round: items");
    // A key that two insert at the same instant may look new to both.
    check($new >= 2490 && $new <= 4000, "round $round: new: $new");
    bloom_drop('f');
}
check_same(bloom_status()['filter_bytes'], free_bytes(), 'free bytes');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
Processes that add at once to one filter: every key is found and counted once
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/add_concurrent.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 20000, expansion: 0, seed: 'fixed');
$adders = [];
for ($i = 0; $i < 4; $i++) {
    // The first half of the keys is its own, the second is common to all.
    $adders[] = new Child("fgets(STDIN); echo bloom_add_many('f', [...keys('own $i-', 2000), ...keys('common ', 2000)]), PHP_EOL;");
}
foreach ($adders as $adder) {
    $adder->say('go');
}
$new = 0;
foreach ($adders as $i => $adder) {
    $new += (int) $adder->hear();
    $adder->end();
    check_same(0, count_no('f', keys("own $i-", 2000)), "denied of $i");
}
check_same(0, count_no('f', keys('common ', 2000)), 'denied');
check_same($new, bloom_info('f')['items'], 'items');
// A key that two add at the same instant may look new to both.
check($new > 9900 && $new <= 16000, "new: $new");
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

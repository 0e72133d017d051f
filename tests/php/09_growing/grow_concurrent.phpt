--TEST--
Processes that make one filter grow at once: every key is found, counted once, and each layer is there once
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/grow_concurrent.seg
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 100, seed: 'fixed');
$adders = [];
for ($i = 0; $i < 4; $i++) {
    // Three quarters of the keys are its own, the rest is common to all; one by one, and many at a time.
    $adders[] = new Child(<<<PHP
        fgets(STDIN);
        \$new = 0;
        foreach (array_chunk(keys('own $i-', 30000), 500) as \$n => \$chunk) {
            \$chunk = [...\$chunk, ...array_slice(keys('common ', 10000), \$n * 166, 166)];
            if (\$n % 2) {
                \$new += patiently(fn () => bloom_add_many('f', \$chunk));
            } else {
                foreach (\$chunk as \$key) {
                    \$new += (int) patiently(fn () => bloom_add('f', \$key));
                    bloom_maybe_has('f', \$key) || die("denied \$key");
                }
            }
        }
        echo \$new, PHP_EOL;
        PHP);
}
foreach ($adders as $adder) {
    $adder->say('go');
}
$new = 0;
foreach ($adders as $i => $adder) {
    $new += (int) $adder->hear();
    $adder->end();
    check_same(0, count_no('f', keys("own $i-", 30000)), "denied of $i");
}
check_same(0, count_no('f', keys('common ', 9960)), 'denied');
$info = bloom_info('f');
// Of keys that were added before a call gave up, no call has said that they were new.
$refused = bloom_status()['lock_timeouts'];
check($new === $info['items'] || ($refused > 0 && $new < $info['items']), "items: {$info['items']}, new: $new, refused: $refused");
// A key that two add at the same instant may look new to both.
check($new > 0.98 * 129_960 && $new < 1.02 * 129_960, "new: $new");
check_same([1, 2, 4, 8, 16, 32], array_slice(array_column($info['layers'], 'partitions'), 0, 6), 'partitions');
check(count($info['layers']) <= 7, count($info['layers']) . ' layers');
check($info['estimated_error_rate'] <= 0.01, "estimated {$info['estimated_error_rate']}");
check_same(bloom_status()['filter_bytes'] - $info['bytes'], free_bytes(), 'free bytes');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

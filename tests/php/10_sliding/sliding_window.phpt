--TEST--
A key is found for the window after its last add, and gone 4/3 of the window after it at the latest
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/sliding_window.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 1000, window: 1, seed: 'fixed');
bloom_reserve('idle', 1000, window: 1, seed: 'fixed');
bloom_reserve('busy', 20000, window: 1, seed: 'fixed');
// Meanwhile two processes add to a filter whose epochs pass under their eyes.
$code = <<<'PHP'
    echo "here\n";
    for ($i = 0; going(); $i++) {
        $begun = microtime(true);
        $keys = keys(getmypid() . "-$i-", 200);
        $i % 2 ? bloom_add_many('busy', $keys) : array_map(fn ($key) => bloom_add('busy', $key), $keys);
        $denied = count_no('busy', $keys);
        check($denied === 0 || microtime(true) - $begun >= 1.0, "$denied denied");
        usleep(1000);
    }
    PHP;
start_going();
$adders = [new Child($code), new Child($code)];
foreach ($adders as $adder) {
    $adder->hear();
}
$keys = keys('k', 100);
$idle_begun = microtime(true);
bloom_add_many('idle', $keys);
$idle_ended = microtime(true);
$begun = microtime(true);
bloom_add_many('f', ['once', 'refreshed']);
$ended = microtime(true);
$refreshed = false;
$seen = [];
do {
    usleep(10_000);
    $before = microtime(true);
    [$once, $again] = bloom_maybe_has_many('f', ['once', 'refreshed']);
    $items = bloom_info('f')['items'];
    $after = microtime(true);
    // However slow this machine is: the answer was given between $before and $after.
    if ($after - $begun < 1.0) {
        check($once, 'denied ' . $after - $begun . ' s after the add');
    }
    if ($before - $ended > 4 / 3) {
        check(!$once, 'found ' . $before - $ended . ' s after the add');
    }
    if ($after - ($refresh_begun ?? $begun) < 1.0) {
        check($again, 'the refreshed key is denied');
    }
    $seen[] = $once || $after - $begun >= 1.0;
    $last = $once;
    bloom_add('busy', "copied $before");
    bloom_copy('busy', 'copy');
    check(bloom_maybe_has('copy', "copied $before") || microtime(true) - $before > 1.0, 'the copy');
    if (!$refreshed && $before - $ended > 0.5) {
        $refreshed = true;
        $refresh_begun = microtime(true);
        // It was there: nothing new, and still it is found for another window.
        $new = bloom_add('f', 'refreshed');
        check(!$new && $again || microtime(true) - $begun > 1.0, 'new');
        check($items <= 2, "items: $items");
    }
} while ($before - $ended < 1.4);
check($seen[0] && !$last, 'it was there, and is gone');
check(bloom_maybe_has('f', 'refreshed') || microtime(true) - $refresh_begun > 1.0, 'the refreshed key');
// The other filter was not used at all.
check(microtime(true) - $idle_ended > 4 / 3, 'time has passed');
check_same(0, count_yes('idle', $keys), 'found in the idle filter');
check_same(0, bloom_info('idle')['items'], 'items of the idle filter');
check_same(0.0, bloom_info('idle')['estimated_error_rate'], 'rate of the idle filter');
// What was gone can come again.
check_same(true, bloom_add('f', 'once'), 'new');
check(bloom_maybe_has('f', 'once'), 'added again');
stop_going();
foreach ($adders as $adder) {
    echo $adder->end();
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

--TEST--
bloom_fetch(): when the loader is killed, one that waits takes over at once
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_killed.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['k']);
for ($round = 0; $round < 3; $round++) {
    bloom_forget('f', 'k');
    $owner = new Child('bloom_fetch("f", "k", function () { echo "loading\n"; sleep(60); });');
    check_same('loading', $owner->hear(), 'the owner');
    $waiter = new Child(<<<'PHP'
        $began = own_time();
        echo "waiting\n", bloom_fetch('f', 'k', fn () => 'by the waiter'), "\n", own_time() - $began, "\n";
        PHP);
    check_same('waiting', $waiter->hear(), 'the waiter');
    usleep(50000);
    $owner->kill();
    check_same('by the waiter', $waiter->hear(), 'what the waiter got');
    // It would have waited for 5 s, had the owner lived.
    $took = $waiter->hear();
    check(is_numeric($took) && $took < 4, "it took $took s");
    $waiter->end();
    check_same('by the waiter', bloom_fetch('f', 'k', fn () => 'never'), 'what is kept');
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

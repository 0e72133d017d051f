--TEST--
bloom_cache_remember(): when the loader is killed, one that waits takes over at once
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/remember_killed.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

for ($round = 0; $round < 3; $round++) {
    bloom_cache_clear();
    $owner = new Child(<<<'PHP'
        bloom_cache_remember('k', function () {
            echo "loading\n";
            sleep(60);
        });
        PHP);
    check_same('loading', $owner->hear(), 'the owner');
    $waiters = [];
    for ($i = 0; $i < 3; $i++) {
        $waiters[] = new Child(<<<'PHP'
            echo "waiting\n";
            echo bloom_cache_remember('k', function () {
                patiently(fn () => bloom_cache_increment('loads'));
                return 'loaded';
            }), "\n";
            PHP);
    }
    foreach ($waiters as $waiter) {
        check_same('waiting', $waiter->hear(), 'a waiter');
    }
    usleep(50000);
    check_same(null, bloom_cache_get('loads'), 'loads while the owner lives');
    $owner->kill();
    foreach ($waiters as $i => $waiter) {
        check_same('loaded', $waiter->hear(), "waiter $i");
    }
    // Who waits for 5 s in vain loads for itself.
    check_same(1, bloom_cache_get('loads'), 'loads');
    foreach ($waiters as $waiter) {
        echo $waiter->end();
    }
    // A key that nobody waited for.
    $owner = new Child('bloom_cache_remember("l", function () { echo "loading\n"; sleep(60); });');
    $owner->hear();
    $owner->kill();
    $at = own_time();
    check_same('mine', bloom_cache_remember('l', fn () => 'mine'), 'after a killed one');
    check(own_time() - $at < 1, 'it took ' . (own_time() - $at) . ' s');
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

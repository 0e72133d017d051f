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

$on_time = 0;
for ($round = 0; $round < 12 && $on_time < 3; $round++) {
    bloom_cache_clear();
    $owner = new Child(<<<'PHP'
        bloom_cache_remember('k', function () {
            echo "loading\n";
            sleep(60);
        });
        PHP);
    check_same('loading', $owner->hear(), 'the owner');
    $waiters = [];
    // The control: one who waits for a loader that lives, until its time is up. It began before the others.
    $slow = new Child('bloom_cache_remember("slow", function () { echo "loading\n"; fgets(STDIN); });');
    check_same('loading', $slow->hear(), 'the slow owner');
    $control = new Child('echo "here\n"; fgets(STDIN); bloom_cache_remember("slow", fn () => bloom_cache_set("control", "gave up"));');
    check_same('here', $control->hear(), 'the control');
    for ($i = 0; $i < 3; $i++) {
        $waiters[] = new Child(<<<'PHP'
            echo "here\n";
            fgets(STDIN);
            echo bloom_cache_remember('k', function () {
                patiently(fn () => bloom_cache_increment('loads'));
                return 'loaded';
            }), "\n";
            PHP);
    }
    foreach ($waiters as $waiter) {
        check_same('here', $waiter->hear(), 'a waiter');
    }
    $control->say('go');
    usleep(300_000);
    array_walk($waiters, fn ($waiter) => $waiter->say('go'));
    usleep(50_000);
    $loads_before = bloom_cache_get('loads');
    $owner->kill();
    foreach ($waiters as $i => $waiter) {
        check_same('loaded', $waiter->hear(), "waiter $i");
    }
    $loads = bloom_cache_get('loads');
    if (bloom_cache_get('control') === null) { // All of it before the time of one who waits is up.
        $on_time++;
        check_same([null, 1], [$loads_before, $loads], 'loads while the owner lives, and afterwards');
    }
    $slow->kill();
    $control->end();
    foreach ($waiters as $waiter) {
        echo $waiter->end();
    }
    // A key that no process waited for.
    $owner = new Child('bloom_cache_remember("l", function () { echo "loading\n"; sleep(60); });');
    $owner->hear();
    $owner->kill();
    $at = own_time();
    check_same('mine', bloom_cache_remember('l', fn () => 'mine'), 'after a killed one');
    check(own_time() - $at < 1, 'it took ' . (own_time() - $at) . ' s');
}
check_same(3, $on_time, 'rounds in which they took over at once');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

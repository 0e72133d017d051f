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
    $waiter = new Child('echo "here\n"; fgets(STDIN); echo bloom_fetch("f", "k", fn () => "by the waiter"), "\n";');
    check_same('here', $waiter->hear(), 'the waiter');
    // The control: one who waits for a loader that lives, until its time is up. It began before the others.
    $slow = new Child('bloom_cache_remember("slow", function () { echo "loading\n"; fgets(STDIN); });');
    check_same('loading', $slow->hear(), 'the slow owner');
    $control = new Child('echo "here\n"; fgets(STDIN); bloom_cache_remember("slow", fn () => bloom_cache_set("control", "gave up"));');
    check_same('here', $control->hear(), 'the control');
    $control->say('go');
    usleep(300_000);
    $waiter->say('go');
    usleep(50_000);
    $owner->kill();
    check_same('by the waiter', $waiter->hear(), 'what the waiter got');
    check_same(null, bloom_cache_get('control'), 'before the time of one who waits is up');
    $slow->kill();
    $control->end();
    bloom_cache_delete('control');
    bloom_cache_delete('slow');
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

--TEST--
A process that is killed with 20 leases: the waiting one loads all of it, at once, with one call
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_many_killed.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

/** A process is killed with 20 leases, and another one waits. Was all of it before such a wait is over? */
function round_of(string $function, string $name, array $keys): bool
{
    bloom_load('f', $keys);
    $code = '$keys = ' . var_export($keys, true) . ';';
    $owner = new Child($code . "$function \$keys, function (array \$keys) { echo count(\$keys), \"\\n\"; sleep(60); });");
    check_same('20', $owner->hear(), "$name: the owner");
    $waiter = new Child($code . <<<PHP
        echo "here\\n";
        fgets(STDIN);
        echo json_encode($function [...array_reverse(\$keys), \$keys[0]], function (array \$keys) {
            echo count(\$keys), "\\n";
            return array_fill_keys(\$keys, 'w');
        })), "\\n";
        PHP);
    check_same('here', $waiter->hear(), "$name: the waiter");
    // The control: one who waits for a loader that lives, until its time is up. It began before the others.
    $slow = new Child('bloom_cache_remember("slow", function () { echo "loading\n"; fgets(STDIN); });');
    check_same('loading', $slow->hear(), "$name: the slow owner");
    $control = new Child('echo "here\n"; fgets(STDIN); bloom_cache_remember_many(["slow"], fn () => [bloom_cache_set("control", "gave up")] + ["slow" => 1]);');
    check_same('here', $control->hear(), "$name: the control");
    $control->say('go');
    usleep(300_000);
    $waiter->say('go');
    usleep(50_000);
    $owner->kill();
    check_same('20', $waiter->hear(), "$name: one call for all keys");
    check_same(json_encode(array_fill(0, 21, 'w')), $waiter->hear(), "$name: what the waiter got");
    $on_time = bloom_cache_get('control') === null;
    $slow->kill();
    $control->end();
    $waiter->end();
    bloom_cache_delete_many(['control', 'slow']);
    $load = fn () => print("called\n");
    $stored = $name === 'remember' ? bloom_cache_remember_many($keys, $load) : bloom_fetch_many('f', $keys, $load);
    check_same(array_fill(0, 20, 'w'), $stored, "$name: what is stored");
    return $on_time;
}

foreach (['bloom_fetch_many("f", ' => 'bloom_fetch', 'bloom_cache_remember_many(' => 'remember'] as $function => $name) {
    // A machine that is busy with other work may hold it up, but not five times.
    $tries = 0;
    while (!round_of($function, $name, keys("k$tries ", 20)) && ++$tries < 5);
    check($tries < 5, "$name: before the time of one who waits is up");
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

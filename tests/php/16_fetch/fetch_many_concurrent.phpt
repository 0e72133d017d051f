--TEST--
Processes that want each other's keys: each loads its own first, once, and gets the others' from them
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_many_concurrent.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// A holds a and wants b; B holds b and wants a. C had b before, so that A did not get it.
bloom_load('f', ['a', 'b']);
$code = fn (string $function, string $keys, string $who) => <<<PHP
    \$load = function (array \$keys) {
        echo "$who loads ", implode(' ', \$keys), "\n";
        fgets(STDIN);
        return array_fill_keys(\$keys, 'by $who');
    };
    echo json_encode($function$keys, \$load)), "\n";
    PHP;
foreach (['bloom_cache_remember_many(' => 'b', 'bloom_fetch_many("f", ' => 'b'] as $function => $b) {
    $c = new Child("$function ['b'], function () { echo \"C loads\\n\"; fgets(STDIN); throw new LogicException(); });", ['display_errors' => '0']);
    check_same('C loads', $c->hear(), 'C');
    $a = new Child($code($function, "['a', 'b']", 'A'));
    check_same('A loads a', $a->hear(), "$function: A");
    $c->kill();
    $d = new Child($code($function, "['b', 'a']", 'B'));
    check_same('B loads b', $d->hear(), "$function: B");
    $at = own_time();
    $d->say('return');
    usleep(20_000);
    $a->say('return');
    check_same('["by A","by B"]', $a->hear(), "$function: what A got");
    check_same('["by B","by A"]', $d->hear(), "$function: what B got");
    check(own_time() - $at < 3, "$function: they waited");
    check_same('', $a->end() . $d->end(), "$function: nothing else was loaded");
}

// Four processes want all keys of each round, in an order of their own.
const ROUNDS = 40;
bloom_load('f', array_merge(...array_map(fn ($round) => keys("round $round key ", 30), range(0, ROUNDS - 1))));
bloom_cache_clear();
$code = <<<'PHP'
    echo "ready\n";
    mt_srand((int) fgets(STDIN));
    $at = own_time();
    for ($round = 0; $round < ROUNDS; $round++) {
        $keys = keys("round $round key ", 30);
        shuffle($keys);
        $calls = 0;
        $load = function (array $keys) use (&$calls) {
            foreach ($keys as $key) {
                patiently(fn () => bloom_cache_increment("loads of $key"));
            }
            usleep(mt_rand(0, 3000));
            $calls++;
            return array_combine($keys, $keys);
        };
        $keys = array_slice($keys, 0, 20);
        $got = $round % 2 === 0 ? bloom_fetch_many('f', $keys, $load) : bloom_cache_remember_many($keys, $load);
        check_same($keys, $got, "round $round");
        // Once for its own keys; once more only where a lease was not to be had in time.
        check($calls <= 1 + bloom_cache_info()['lock_timeouts'], "round $round: $calls calls");
    }
    check(own_time() - $at < 60, 'they waited for each other');
    PHP;
$code = 'const ROUNDS = ' . ROUNDS . ';' . $code;
$children = [];
for ($i = 0; $i < 4; $i++) {
    $children[$i] = new Child($code);
    $children[$i]->hear();
}
array_walk($children, fn ($child, $i) => $child->say((string) $i));
foreach ($children as $i => $child) {
    check_same('', $child->end(), "child $i");
}
// Each key was loaded once. A lease that could not be asked for in time is one load more.
$refused = bloom_cache_info()['lock_timeouts'];
$more = 0;
for ($round = 0; $round < ROUNDS; $round++) {
    foreach (keys("round $round key ", 30) as $key) {
        $more += max(0, (int) bloom_cache_get("loads of $key") - 1);
    }
}
check($more <= $refused, "$more loads too many, refused: $refused");
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

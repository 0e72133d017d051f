--TEST--
Processes killed at random moments of every operation on every kind: never a wrong no, never a byte lost
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/killed_at_random.seg
bloomshm.filter_memory=4M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('fixed', keys('golden ', 1000), seed: 'shared', expansion: 0);
bloom_reserve('scalable', 100, seed: 'shared');
bloom_reserve('sliding', 3000, window: 100_000, seed: 'shared');
bloom_reserve('counting', 3000, counting: true, seed: 'shared');
$kinds = ['fixed', 'scalable', 'sliding', 'counting'];
foreach ($kinds as $name) {
    bloom_add_many($name, keys('golden ', 1000));
    bloom_dump($name, scratch(".$name"));
}
bloom_dump('scalable', scratch('.scalable'));
mt_srand($seed = 133);
echo "seed $seed\n";
for ($round = 0; $round < 30; $round++) {
    $worker = new Child(<<<'PHP'
        echo "here\n";
        for ($i = 0;; $i++) {
            foreach (['fixed', 'scalable', 'sliding', 'counting'] as $name) {
                bloom_copy($name, "copy of $name");
                bloom_merge($name, "copy of $name");
                bloom_restore("restored $name", scratch(".$name"));
                bloom_merge("restored $name", $name, "copy of $name");
                bloom_rename("restored $name", "copy of $name");
                bloom_restore($name, scratch(".$name"));
                bloom_clear("copy of $name");
                bloom_drop("copy of $name");
            }
            bloom_insert('scalable', keys("$i-", 4000));
            bloom_add_many('sliding', keys("$i-", 300));
            bloom_add_many('counting', keys("$i-", 300));
            foreach (keys("$i-", 300) as $key) {
                bloom_remove('counting', $key);
            }
        }
        PHP);
    $worker->hear();
    for ($asked = mt_rand(1, 40); $asked > 0; $asked--) {
        foreach ($kinds as $name) {
            check_same(0, count_no($name, keys('golden ', 1000)), "round $round: denied by $name");
        }
    }
    $worker->kill();
    check_same([], bloom_verify(), "round $round: bloom_verify()");
}
foreach ($kinds as $name) {
    check_same(0, count_no($name, keys('golden ', 1000)), "denied by $name");
    bloom_restore($name, scratch(".$name"));
}
array_map(bloom_drop(...), array_diff(bloom_list(), $kinds));
check_same(bloom_status()['filter_bytes'], free_bytes() + array_sum(array_map(fn ($name) => bloom_info($name)['bytes'], $kinds)), 'free bytes');
done();
?>
--EXPECTF--
seed %d
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

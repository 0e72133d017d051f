--TEST--
Processes killed while they make a filter grow: nothing is lost or left, and it goes on growing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/grow_killed.seg
bloomshm.filter_memory=8M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 100, seed: 'fixed');
bloom_add_many('f', keys('golden ', 3000));
$small = bloom_info('f')['bytes'];
mt_srand($seed = 93);
echo "seed $seed\n";
for ($round = 0; $round < 25; $round++) {
    $adder = new Child(<<<'PHP'
        echo "here\n";
        for ($i = 0;; $i++) {
            bloom_add_many('f', keys(getmypid() . "-$i-", 3000));
            if ($i % 20 === 19) {
                bloom_clear('f');
                bloom_add_many('f', keys('golden ', 3000));
            }
        }
        PHP);
    $adder->hear();
    usleep(mt_rand(500, 8000));
    $adder->kill();
    check_same([], bloom_verify(), "round $round: bloom_verify()");
    $info = bloom_info('f');
    $info !== null && check_same(bloom_status()['filter_bytes'] - $info['bytes'], free_bytes(), "round $round: free bytes");
    // A clear that was cut short is finished by the next process.
    bloom_add_many('f', keys('golden ', 3000));
    check_same(0, count_no('f', keys('golden ', 3000)), "round $round: denied");
}
bloom_clear('f');
check_same($small, bloom_info('f')['bytes'], 'bytes of the first layer');
check_same(bloom_status()['filter_bytes'] - $small, free_bytes(), 'free bytes');
bloom_add_many('f', keys('k', 30000));
check_same(0, count_no('f', keys('k', 30000)), 'denied');
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

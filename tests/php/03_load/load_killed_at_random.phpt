--TEST--
Loaders killed at random moments: never a wrong no, never a byte lost
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_killed_at_random.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('common ', 2000));
$free = free_bytes() + bloom_info('f')['bytes'];
mt_srand($seed = 20241);
echo "seed $seed\n";
for ($round = 0; $round < 25; $round++) {
    $loader = new Child(<<<'PHP'
        echo "here\n";
        for ($i = 0;; $i++) {
            bloom_load('f', [...keys('common ', 2000), ...keys("$i-", $i % 7 * 1000)], capacity: $i % 2 ? null : 9000);
            bloom_copy('f', 'g');
            bloom_rename('g', 'h');
            bloom_add_many('h', keys('added ', 100));
            bloom_clear('h');
            bloom_drop('h');
        }
        PHP);
    $loader->hear();
    for ($asked = mt_rand(1, 60); $asked > 0; $asked--) {
        check_same(0, count_no('f', keys('common ', 2000)), "round $round: denied");
    }
    $loader->kill();
    check_same([], bloom_verify(), "round $round: bloom_verify()");
}
check_same(0, count_no('f', keys('common ', 2000)), 'denied');
array_map(bloom_drop(...), array_diff(bloom_list(), ['f']));
check_same($free, free_bytes() + bloom_info('f')['bytes'], 'free bytes');
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

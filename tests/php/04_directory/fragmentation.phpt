--TEST--
After loads and drops in any order all that is free can be used by one filter
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fragmentation.seg
bloomshm.filter_memory=4M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mt_srand($seed = 90125);
echo "seed $seed\n";
$free = free_bytes();

// Filters of one size that fill the memory, and every second one dropped: the free half is in the smallest pieces.
for ($count = 0;; $count++) {
    try {
        bloom_reserve("small $count", 10, expansion: 0);
        bloom_add("small $count", "key $count");
    } catch (BloomShm\Exception $e) {
        check_same('NO_SPACE', code_name($e->getCode()), 'the code');
        break;
    }
}
check($count > 100, "$count small filters");
for ($i = 0; $i < $count; $i += 2) {
    bloom_drop("small $i");
}
$pieces = free_bytes();
check($pieces > $free * 0.45, "free in pieces: $pieces of $free");
$largest = bloom_status()['largest_free_bytes'];
check($largest > 0 && $largest <= $pieces, "largest_free_bytes: $largest");
$bytes = reserve_largest('large');
check($bytes > $pieces * 0.95, "the largest filter in them: $bytes of $pieces");
bloom_add_many('large', keys('k', 100000));
var_dump(count_no('large', keys('k', 100000)), count_yes('large', keys('absent ', 100000)) < 1000);
$wrong = 0;
for ($i = 1; $i < $count; $i += 2) {
    $wrong += (int) !bloom_maybe_has("small $i", "key $i") + (int) bloom_maybe_has("small $i", 'absent');
}
var_dump($wrong);
check_same([], bloom_verify(), 'bloom_verify()');
bloom_drop('large');

// A load, with a hint and without, in the same pieces.
foreach ([null, 1000000] as $capacity) {
    $info = bloom_load('large', (fn () => yield from keys('k', 1000000))(), capacity: $capacity);
    check($info['estimated_error_rate'] <= 0.01, 'rate of the load');
    check_same(0, count_no('large', keys('k', 300000)), 'denied');
    bloom_drop('large');
}

// Everything at random; a model knows what each filter holds.
$held = [];
$order = [];
for ($i = 1; $i < $count; $i += 2) {
    bloom_drop("small $i");
}
check_same($free, free_bytes(), 'free bytes');
for ($round = 0; $round < 1500; $round++) {
    $name = 'f' . mt_rand(0, 15);
    try {
        switch (mt_rand(0, 5)) {
            case 0:
            case 1:
                $size = mt_rand(1, 2) === 1 ? mt_rand(1, 5000) : mt_rand(1, 100000);
                bloom_load($name, ["only $round", ...keys("$round-", min($size, 50))], capacity: $size);
                $held[$name] = ["only $round", ...keys("$round-", min($size, 50))];
                break;
            case 2:
                check_same(isset($held[$name]), bloom_drop($name), 'dropped');
                unset($held[$name]);
                break;
            case 3:
                if (isset($held[$name])) {
                    bloom_copy($name, 'f0');
                    $held['f0'] = $held[$name];
                }
                break;
            case 4:
                if (isset($held[$name]) && $name !== 'f1') {
                    bloom_rename($name, 'f1');
                    $held['f1'] = $held[$name];
                    unset($held[$name]);
                }
                break;
            case 5:
                if (!isset($held[$name])) {
                    bloom_reserve($name, mt_rand(1, 200000), expansion: 0);
                    $held[$name] = [];
                }
                break;
        }
    } catch (BloomShm\Exception $e) {
        check_same('NO_SPACE', code_name($e->getCode()), $e->getMessage());
        foreach (array_slice(array_keys($held), 0, 3) as $victim) {
            bloom_drop($victim);
            unset($held[$victim]);
        }
    }
    foreach ($held as $name => $keys) {
        if (count_no($name, $keys) !== 0) {
            echo "round $round: $name denies what it holds\n";
            break 2;
        }
    }
}
check_same([], bloom_verify(), 'bloom_verify()');
$bytes = reserve_largest('large');
bloom_drop('large');
check($bytes >= free_bytes() * 0.95, "the largest filter at the end: $bytes of " . free_bytes());
array_map(bloom_drop(...), bloom_list());
check_same($free, free_bytes(), 'free bytes');
done();
?>
--EXPECTF--
seed %d
int(0)
bool(true)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
All answers of bloom_maybe_has_many() are from one generation
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_one_generation.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('odd ', 2000), 0.000001, seed: '1');
$loader = new Child(<<<'PHP'
    echo "here\n";
    for ($i = 0; $i < 600; $i++) {
        bloom_load('f', keys($i % 2 ? 'odd ' : 'even ', 2000), 0.000001, seed: (string) ($i % 2));
    }
    echo "done\n";
    PHP);
$loader->hear();
$keys = [...keys('odd ', 2000), ...keys('even ', 2000)];
$rounds = $mixed = 0;
do {
    $odd = array_slice($answers = bloom_maybe_has_many('f', $keys), 0, 2000);
    $even = array_slice($answers, 2000);
    // One set of the two; or, where no generation stood long enough to be asked, maybe to all.
    $sets = [count(array_filter($odd)), count(array_filter($even))];
    $mixed += (int) !in_array($sets, [[2000, 0], [0, 2000], [2000, 2000]], true);
    $rounds++;
} while (bloom_status()['attached'] > 1 || $rounds < 10);
check_same("done\n", $loader->end(), 'the loader');
var_dump($mixed);
done();
?>
--EXPECT--
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

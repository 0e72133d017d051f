--TEST--
Readers never see a mixture or a gap while filters are replaced, renamed and copied
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_republish_under_readers.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('common ', 500));
$loader = new Child(<<<'PHP'
    bloom_list();
    echo "here\n";
    for ($i = 0; $i < 400; $i++) {
        bloom_load('f', [...keys('common ', 500), ...keys("$i-", $i * 7919 % 20000)]);
        if ($i % 3 === 0) {
            bloom_load('next', [...keys('common ', 500), ...keys("$i-", 100)], 0.001);
            bloom_rename('next', 'f');
        }
        if ($i % 5 === 0) {
            bloom_copy('f', 'kept');
            bloom_copy('kept', 'f');
        }
    }
    echo "done\n";
    PHP);
$loader->hear();
$common = keys('common ', 500);
$denied = $rounds = 0;
do {
    $denied += count_no('f', $common);
    foreach (array_slice($common, 0, 100) as $key) {
        $denied += (int) !bloom_maybe_has('f', $key);
    }
    $rounds++;
} while (bloom_info('f')['items'] > 0 && bloom_status()['attached'] > 1);
check_same("done\n", $loader->end(), 'the loader');
check($rounds > 1, "rounds: $rounds");
var_dump($denied);
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

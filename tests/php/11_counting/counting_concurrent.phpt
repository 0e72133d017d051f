--TEST--
Processes that add and remove at once: every count is right in the end, no key is lost meanwhile
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/counting_concurrent.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 20000, 0.001, counting: true, seed: 'fixed');
$golden = keys('golden ', 500);
bloom_add_many('f', $golden);
$workers = [];
for ($i = 0; $i < 3; $i++) {
    $workers[] = new Child(<<<PHP
        fgets(STDIN);
        for (\$round = 0; \$round < 4; \$round++) {
            bloom_add_many('f', keys('own $i-', 1000));
            foreach (keys('common ', 1000) as \$key) {
                bloom_add('f', \$key);
            }
            foreach (keys('own $i-', 1000) as \$key) {
                bloom_remove('f', \$key) || die("cannot remove \$key");
            }
            foreach (keys('common ', 1000) as \$key) {
                bloom_remove('f', \$key) || die("cannot remove \$key");
            }
            count_no('f', keys('golden ', 500)) === 0 || die('denied');
        }
        bloom_add_many('f', keys('own $i-', 1000));
        echo "done\n";
        PHP);
}
foreach ($workers as $worker) {
    $worker->say('go');
}
foreach ($workers as $i => $worker) {
    echo $worker->hear(), "\n";
    $worker->end();
    check_same(0, count_no('f', keys("own $i-", 1000)), "denied of $i");
}
$counts = array_count_values(array_map(fn ($key) => bloom_count('f', $key), $golden));
check(($counts[1] ?? 0) > 480 && !isset($counts[0]), json_encode($counts));
check(count_yes('f', keys('common ', 1000)) < 20, 'what was removed is found');
for ($i = 0; $i < 3; $i++) {
    foreach (keys("own $i-", 1000) as $key) {
        bloom_remove('f', $key);
    }
}
foreach ($golden as $key) {
    bloom_remove('f', $key);
}
var_dump(bloom_info('f')['fill']);
$items = bloom_info('f')['items'];
check($items < 50, "items: $items");
done();
?>
--EXPECT--
done
done
done
float(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

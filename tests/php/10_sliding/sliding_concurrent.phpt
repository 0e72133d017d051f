--TEST--
Processes that add to one sliding filter at once: every key is found
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/sliding_concurrent.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 20000, window: 36_000_000, seed: 'fixed');
$adders = [];
for ($i = 0; $i < 3; $i++) {
    $adders[] = new Child(<<<PHP
        fgets(STDIN);
        foreach (keys('single $i-', 3000) as \$key) {
            bloom_add('f', \$key);
            bloom_maybe_has('f', \$key) || die("denied \$key");
        }
        bloom_add_many('f', [...keys('many $i-', 3000), ...keys('common ', 3000)]);
        echo "done\n";
        PHP);
}
foreach ($adders as $adder) {
    $adder->say('go');
}
foreach ($adders as $i => $adder) {
    echo $adder->hear(), "\n";
    $adder->end();
    check_same(0, count_no('f', [...keys("single $i-", 3000), ...keys("many $i-", 3000)]), "denied of $i");
}
check_same(0, count_no('f', keys('common ', 3000)), 'denied');
$items = bloom_info('f')['items'];
check($items > 20000 && $items < 22000, "items: $items");
done();
?>
--EXPECT--
done
done
done
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

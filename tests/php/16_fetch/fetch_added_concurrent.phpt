--TEST--
bloom_fetch(): whatever is added while others ask is found at last; there is never a wrong no
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_added_concurrent.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=16M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// A filter that says maybe to very many, so that loaders often find nothing.
bloom_reserve('f', 3000, error_rate: 0.5, expansion: 0);
bloom_add_many('f', keys('other ', 1000));
$reader = <<<'PHP'
    echo "ready\n";
    mt_srand((int) fgets(STDIN));
    $load = fn (string $key) => bloom_cache_get("backend $key");
    while (!bloom_cache_has('end')) {
        $done = (int) bloom_cache_get('done', 0);
        for ($i = 0; $i < 50; $i++) {
            // Around the place where keys are being added.
            $n = max(0, $done + mt_rand(-20, 20));
            $value = bloom_fetch('f', "k$n", $load);
            if ($n < $done && $value !== $n) {
                echo "k$n was added, and is ", json_encode($value), "\n";
            }
        }
    }
    PHP;
$children = [];
for ($i = 0; $i < 3; $i++) {
    $children[$i] = new Child($reader);
    $children[$i]->hear();
    $children[$i]->say("$i");
}
for ($i = 0; $i < 1500; $i++) {
    bloom_cache_set("backend k$i", $i);
    bloom_add('f', "k$i");
    bloom_cache_set('done', $i + 1);
    if ($i % 20 === 0) {
        usleep(2000);
    }
}
bloom_cache_set('end', true);
foreach ($children as $child) {
    echo $child->end();
}
for ($i = 0; $i < 1500; $i++) {
    check_same($i, bloom_fetch('f', "k$i", fn () => $i), "k$i");
}
check(bloom_info('f')['false_positives'] > 0, 'there were false positives');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

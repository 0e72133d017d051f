--TEST--
bloom_count() says how often a key was added: exactly in a sparse filter, never too little in a full one
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/count.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('sparse', 10000, 0.0001, counting: true, seed: 'fixed');
for ($i = 1; $i <= 14; $i++) {
    for ($n = 0; $n < $i; $n++) {
        check_same($n === 0, bloom_add('sparse', "added $i times"), "add $n of $i");
    }
    check_same($i, bloom_count('sparse', "added $i times"), "count of $i");
}
var_dump(bloom_count('sparse', 'never added'), bloom_info('sparse')['items']);
// Any bytes are a key.
foreach (['', "\0", "a\0b", str_repeat('x', 5000)] as $key) {
    check_same([0, true, 1], [bloom_count('sparse', $key), bloom_add('sparse', $key), bloom_count('sparse', $key)], json_encode($key));
}

bloom_reserve('full', 2000, 0.1, counting: true, seed: 'fixed');
for ($n = 0; $n < 4; $n++) {
    bloom_add_many('full', keys('k', 500 * ($n + 1)));
}
$wrong = 0;
foreach (keys('k', 2000) as $i => $key) {
    $times = 4 - intdiv($i, 500);
    $count = bloom_count('full', $key);
    check($count >= $times, "$key: $count of $times");
    $wrong += (int) ($count > $times);
}
check($wrong > 0 && $wrong < 600, "$wrong counts are too high");
// A key that is not there has the count 0 exactly if it is denied.
foreach (keys('absent ', 2000) as $key) {
    check_same(bloom_maybe_has('full', $key), bloom_count('full', $key) > 0, $key);
}
done();
?>
--EXPECT--
int(0)
int(14)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

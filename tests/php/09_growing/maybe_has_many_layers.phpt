--TEST--
bloom_maybe_has_many() of a filter with layers: large lists, few keys, every array key
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/maybe_has_many_layers.seg
bloomshm.filter_memory=2M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 100);
bloom_add_many('f', keys('k', 100_000));
foreach ([1, 5, 63, 64, 65, 1000, 100_000] as $count) {
    check_same(array_fill(0, $count, true), bloom_maybe_has_many('f', keys('k', $count)), "$count keys");
    check_same(array_combine(keys('a', $count), array_fill(0, $count, true)),
        bloom_maybe_has_many('f', array_combine(keys('a', $count), keys('k', $count))), "$count keys of a map");
}
// One by one and many at a time, the wrong answers are the same.
$many = bloom_maybe_has_many('f', keys('absent ', 30000));
foreach (keys('absent ', 30000) as $i => $key) {
    $many[$i] === bloom_maybe_has('f', $key) || check(false, $key);
}
var_dump(count(array_filter($many)) < 300);
done();
?>
--EXPECT--
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

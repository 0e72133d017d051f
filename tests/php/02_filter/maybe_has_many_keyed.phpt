--TEST--
bloom_maybe_has_many() of string and sparse array keys, at every size
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/maybe_has_many_keyed.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 5000, expansion: 0, seed: 'fixed');
bloom_add_many('f', range(0, 2000, 2));
foreach ([...range(0, 70), 127, 128, 129, 255, 256, 257, 1000, 2000] as $size) {
    $strings = $sparse = $mixed = $backwards = [];
    for ($i = 0; $i < $size; $i++) {
        $strings["key $i"] = "$i";
        $sparse[$i * 3 - 50] = $i % 3 ? "$i" : $i;
        $mixed[$i % 2 ? $i : "key $i"] = $i;
        $backwards[$size - $i] = "$i";
    }
    foreach ([$strings, $sparse, $mixed, $backwards] as $which => $keys) {
        $expected = array_map(fn ($key) => $key % 2 === 0, $keys);
        check($expected === bloom_maybe_has_many('f', $keys), "size $size, kind $which");
        check(array_fill_keys(array_keys($keys), true) === bloom_maybe_has_many('missing', $keys), "missing, size $size, kind $which");
    }
}
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

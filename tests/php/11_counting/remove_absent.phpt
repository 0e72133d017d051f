--TEST--
bloom_remove() of a key that is certainly absent is refused and changes nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/remove_absent.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 5000, 0.001, counting: true, seed: 'fixed');
bloom_add_many('f', keys('k', 2000));
$of = fn (): array => array_diff_key(bloom_info('f'), array_flip(['questions', 'maybes']));
$before = $of();
$refused = 0;
foreach (keys('absent ', 2000) as $key) {
    // One that is maybe there would be taken for a key that was added.
    if (!bloom_maybe_has('f', $key)) {
        check_same(false, bloom_remove('f', $key), $key);
        $refused++;
    }
}
check($refused > 1950, "$refused refused");
check_same($before, $of(), 'bloom_info()');
check_same(0, count_no('f', keys('k', 2000)), 'denied');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

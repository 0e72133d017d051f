--TEST--
Keys added to the target while it is merged are in the union; readers never get a wrong no
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/merge_concurrent.seg
bloomshm.filter_memory=32M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('a', 60000, expansion: 0, seed: 'shared');
bloom_reserve('b', 60000, expansion: 0, seed: 'shared');
bloom_add_many('a', keys('golden ', 2000));
bloom_add_many('b', keys('b-', 2000));
start_going();
$adder = new Child(<<<'PHP'
    echo "here\n";
    $added = 0;
    while (going() && $added < 30000) {
        patiently(fn () => bloom_add('a', 'added ' . $added));
        bloom_maybe_has('a', 'added ' . $added) || die("denied $added\n");
        bloom_maybe_has('a', 'golden ' . $added % 2000) || die("denied golden\n");
        $added++;
    }
    echo $added, "\n";
    PHP);
$adder->hear();
for ($i = 0; $i < 200; $i++) {
    patiently(fn () => bloom_merge('a', 'b'));
}
stop_going();
$added = $adder->hear();
$adder->end();
check((int) $added > 0, "it has added: $added");
check_same(0, count_no('a', [...keys('golden ', 2000), ...keys('b-', 2000), ...keys('added ', (int) $added)]), 'denied');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

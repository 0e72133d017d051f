--TEST--
bloom_insert() beside processes that drop the filter: it makes another one, and never says that there is none
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/insert_dropped_concurrent.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$droppers = [];
for ($i = 0; $i < 2; $i++) {
    $droppers[] = new Child('echo "ready\n"; $dropped = 0; for (;;) { $dropped += (int) bloom_drop("f"); }');
}
foreach ($droppers as $dropper) {
    $dropper->hear();
}
$kept = 0;
for ($i = 0; $i < 5000; $i++) {
    $answers = bloom_insert('f', ["key $i"]);
    if (count($answers) !== 1) {
        check_same([true], $answers, "insert $i");
    }
    $kept += (int) ($answers === [true]);
}
foreach ($droppers as $dropper) {
    $dropper->kill();
}
check($kept > 0, 'new keys');
bloom_drop('f');
check_same(bloom_status()['filter_bytes'], free_bytes(), 'free bytes');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

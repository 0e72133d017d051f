--TEST--
bloom_merge() into one name by several processes at once: what each has merged is in it, unless a later call replaced it
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/merge_merged_concurrent.seg
bloomshm.filter_memory=16M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$kinds = [
    'fixed' => ['expansion' => 0],
    'growing' => [],
    'sliding' => ['window' => 360000],
    'counting' => ['counting' => true],
];
foreach ($kinds as $kind => $parameters) {
    $mergers = [];
    for ($i = 0; $i < 3; $i++) {
        bloom_reserve("of $i", 30000, ...$parameters, seed: 'shared');
        $mergers[] = new Child(<<<PHP
            while (fgets(STDIN) !== false) {
                echo bloom_merge('into', 'of $i') ? 'merged' : 'not', "\n";
            }
            PHP);
    }
    for ($round = 0; $round < 30; $round++) {
        for ($i = 0; $i < 3; $i++) {
            bloom_add("of $i", "key $round of $i");
        }
        $round % 3 === 0 && bloom_drop('into');
        foreach ($mergers as $merger) {
            $merger->say('go');
        }
        foreach ($mergers as $merger) {
            check_same('merged', $merger->hear(), "$kind, round $round");
        }
        for ($i = 0; $i < 3; $i++) {
            check(bloom_maybe_has('into', "key $round of $i"), "$kind, round $round: a key of $i is denied");
        }
    }
    foreach ($mergers as $i => $merger) {
        $merger->end();
        bloom_drop("of $i");
    }
    bloom_drop('into');
}
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

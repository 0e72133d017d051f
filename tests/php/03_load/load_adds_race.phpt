--TEST--
Keys that are added right when a load publishes are in the published filter
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_adds_race.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$adder = new Child(<<<'PHP'
    while (($round = fgets(STDIN)) !== false) {
        $round = trim($round);
        for ($i = 0; $i < 1000; $i++) {
            patiently(fn () => bloom_add('f', "$round-$i"));
        }
        echo "added\n";
    }
    PHP);
bloom_reserve('f', 10000, expansion: 0);
for ($round = 0; $round < 60; $round++) {
    // The adds begin after the load has begun, and end before, while or after it publishes.
    bloom_load('f', (function () use ($adder, $round) {
        yield 'first';
        $adder->say("$round");
        yield from keys("k$round-", $round * 200);
    })(), 0.000001, max_error_rate: 1.0);
    check_same('added', $adder->hear(), 'the adder');
    check_same(0, count_no('f', [...keys("$round-", 1000), ...keys("k$round-", $round * 200)]), "round $round: denied");
}
$adder->end();
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

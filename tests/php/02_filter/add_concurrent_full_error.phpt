--TEST--
Processes that fill a filter at once: each gets FULL, none of the keys that were taken is denied
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/add_concurrent_full_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 2000, expansion: 0, seed: 'fixed');
$code = <<<'PHP'
    $name = trim(fgets(STDIN));
    $taken = 0;
    try {
        while (true) {
            bloom_add('f', "$name $taken");
            $taken++;
        }
    } catch (BloomShm\Exception $e) {
        echo $taken, ' ', code_name($e->getCode()), "\n";
    }
    PHP;
$adders = [new Child($code), new Child($code), new Child($code)];
foreach ($adders as $i => $adder) {
    $adder->say("adder $i");
}
$total = 0;
foreach ($adders as $i => $adder) {
    [$taken, $code] = explode(' ', $adder->hear());
    check_same('FULL', $code, 'the end');
    check_same(0, count_no('f', keys("adder $i ", (int) $taken)), "denied of $i");
    $total += $taken;
    $adder->end();
}
check($total >= 2000 && $total < 2050, "taken: $total");
check(bloom_info('f')['items'] >= 2000 && bloom_info('f')['items'] <= 2010, 'items: ' . bloom_info('f')['items']);
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

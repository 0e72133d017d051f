--TEST--
A name that is dropped and made anew is a new filter
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/drop_and_reserve.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

for ($round = 0; $round < 200; $round++) {
    check(bloom_reserve('f', 10 + $round, expansion: 0), 'reserved');
    check(!bloom_maybe_has('f', 'a'), "empty in round $round");
    check(bloom_add('f', 'a') && bloom_maybe_has('f', 'a'), 'added');
    bloom_drop('f');
    check(bloom_maybe_has('f', 'b'), "missing in round $round");
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

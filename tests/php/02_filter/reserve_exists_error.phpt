--TEST--
bloom_reserve() of a name that stands with other parameters throws EXISTS
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/reserve_exists_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 1000, 0.01, 0, seed: 'one');
bloom_add('f', 'a');
show_thrown(
    fn () => bloom_reserve('f', 1001, 0.01, 0, seed: 'one'),
    fn () => bloom_reserve('f', 1000, 0.02, 0, seed: 'one'),
    fn () => bloom_reserve('f', 1000, 0.01, 0, seed: 'two'),
    fn () => bloom_reserve('f', 1000, 0.01, 0, seed: 'one'),
    fn () => bloom_reserve('f', 1000, 0.01, 0),
);
var_dump(bloom_maybe_has('f', 'a'), bloom_info('f')['items']);
done();
?>
--EXPECTF--
BloomShm\Exception EXISTS: %s
BloomShm\Exception EXISTS: %s
BloomShm\Exception EXISTS: %s
nothing thrown, returned false
nothing thrown, returned false
bool(true)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

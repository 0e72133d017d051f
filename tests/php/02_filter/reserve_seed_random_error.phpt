--TEST--
A filter with a secret seed does not take a seed as the same parameters
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/reserve_seed_random_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 10, expansion: 0);
show_thrown(
    fn () => bloom_reserve('f', 10, expansion: 0, seed: 'a'),
    fn () => bloom_reserve('f', 10, expansion: 0),
);
done();
?>
--EXPECTF--
BloomShm\Exception EXISTS: %s
nothing thrown, returned false
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

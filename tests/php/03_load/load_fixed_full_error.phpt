--TEST--
A fixed filter from bloom_load() takes keys up to its capacity, then throws FULL
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_fixed_full_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$info = bloom_load('f', keys('k', 10), 0.000001, 50, expansion: 0, seed: 'fixed');
$room = $info['capacity'] - $info['items'];
check($room >= 40, "room: $room");
var_dump(bloom_add_many('f', keys('more ', $room)) === $room);
show_thrown(
    fn () => bloom_add('f', 'one more'),
    fn () => bloom_add('f', 'k0'),
    fn () => bloom_add_many('f', ['k0', 'one more']),
);
var_dump(bloom_maybe_has('f', 'one more'), bloom_info('f')['items'] === $info['capacity']);
done();
?>
--EXPECTF--
bool(true)
BloomShm\Exception FULL: %s%d%s
nothing thrown, returned false
BloomShm\Exception FULL: %s%d%s
bool(false)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

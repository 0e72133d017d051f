--TEST--
bloom_reserve() with a window makes a sliding filter
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/reserve_sliding.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_reserve('f', 1000, window: 36_000_000), bloom_maybe_has('f', 'a'));
$info = bloom_info('f');
var_dump($info['type'], $info['window'], $info['expansion'], $info['capacity'], $info['items'], count($info['layers']));
var_dump($info['bits_per_key'], $info['estimated_error_rate']);
// 0 and the default are the same expansion.
var_dump(bloom_reserve('f', 1000, expansion: 0, window: 36_000_000), bloom_reserve('f', 1000, expansion: 2, window: 36_000_000));
show_thrown(
    fn () => bloom_reserve('f', 1000, window: 36_000_001),
    fn () => bloom_reserve('f', 1000),
    fn () => bloom_reserve('f', 1000, expansion: 0),
    fn () => bloom_reserve('f', 1001, window: 36_000_000),
    fn () => bloom_reserve('f', 1000, counting: true),
);
var_dump(bloom_reserve('shortest', 10, window: 1), bloom_reserve('longest', 10, window: 315_360_000));
bloom_reserve('sized', 100_000, window: 60);
$bits = 8 * bloom_info('sized')['bytes'] / 100_000;
check($bits < 19.5, "$bits bits a key");
done();
?>
--EXPECTF--
bool(true)
bool(false)
string(7) "sliding"
int(36000000)
int(0)
int(1000)
int(0)
int(1)
NULL
float(0)
bool(false)
bool(false)
BloomShm\Exception EXISTS: %s
BloomShm\Exception EXISTS: %s
BloomShm\Exception EXISTS: %s
BloomShm\Exception EXISTS: %s
BloomShm\Exception EXISTS: %s
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_reserve() with counting makes a counting filter
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/reserve_counting.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_reserve('f', 1000, counting: true), bloom_maybe_has('f', 'a'), bloom_count('f', 'a'));
$info = bloom_info('f');
var_dump($info['type'], $info['window'], $info['expansion'], $info['capacity'], $info['items'], count($info['layers']), $info['bits_per_key']);
// 0 and the default are the same expansion.
var_dump(bloom_reserve('f', 1000, expansion: 0, counting: true), bloom_reserve('f', 1000, expansion: 2, counting: true));
show_thrown(
    fn () => bloom_reserve('f', 1000),
    fn () => bloom_reserve('f', 1000, expansion: 0),
    fn () => bloom_reserve('f', 1001, counting: true),
    fn () => bloom_reserve('f', 1000, window: 60),
);
// Four bits where others have one.
bloom_reserve('fixed', 10000, expansion: 0);
bloom_reserve('counting', 10000, counting: true);
check(bloom_info('counting')['bytes'] <= 4 * bloom_info('fixed')['bytes'] + 8192, 'bytes');
done();
?>
--EXPECTF--
bool(true)
bool(false)
int(0)
string(8) "counting"
int(0)
int(0)
int(1000)
int(0)
int(1)
NULL
bool(false)
bool(false)
BloomShm\Exception EXISTS: %s
BloomShm\Exception EXISTS: %s
BloomShm\Exception EXISTS: %s
BloomShm\Exception EXISTS: %s
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

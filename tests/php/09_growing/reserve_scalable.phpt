--TEST--
bloom_reserve(): filters grow unless they are told not to; they begin small
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/reserve_scalable.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_reserve('f', 100), bloom_reserve('f', 100, 0.01, 2), bloom_maybe_has('f', 'a'));
$info = bloom_info('f');
var_dump($info['type'], $info['expansion'], $info['bytes'], count($info['layers']), $info['items'], $info['bits_per_key']);
check($info['capacity'] >= 100, "capacity {$info['capacity']}");
foreach ([2, 3, 32] as $expansion) {
    bloom_reserve("by $expansion", 20000, 0.001, $expansion);
    $info = bloom_info("by $expansion");
    check_same(['scalable', $expansion, 20000], [$info['type'], $info['expansion'], $info['capacity']], "by $expansion");
}
show_thrown(
    fn () => bloom_reserve('f', 101),
    fn () => bloom_reserve('f', 100, 0.02),
    fn () => bloom_reserve('f', 100, expansion: 3),
    fn () => bloom_reserve('f', 100, expansion: 0),
    fn () => bloom_reserve('f', 100, window: 60),
    fn () => bloom_reserve('f', 100, counting: true),
    fn () => bloom_reserve('f', 100),
);
done();
?>
--EXPECTF--
bool(true)
bool(false)
bool(false)
string(8) "scalable"
int(2)
int(8192)
int(1)
int(0)
NULL
BloomShm\Exception EXISTS: %s
BloomShm\Exception EXISTS: %s
BloomShm\Exception EXISTS: %s
BloomShm\Exception EXISTS: %s
BloomShm\Exception EXISTS: %s
BloomShm\Exception EXISTS: %s
nothing thrown, returned false
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

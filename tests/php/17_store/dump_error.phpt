--TEST--
bloom_cache_dump() and bloom_cache_restore(): paths that do not work are IO
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/dump_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_cache_set('a', 1);
mkdir(scratch('.dir'));
show_thrown(
    fn () => bloom_cache_restore(scratch('.missing')),
    fn () => bloom_cache_restore(scratch('.dir')),
    fn () => bloom_cache_restore(''),
    fn () => bloom_cache_dump(scratch('.nowhere') . '/dump'),
    fn () => bloom_cache_dump(scratch('.dir')),
    fn () => bloom_cache_dump(''),
    fn () => bloom_cache_dump("a\0b"),
    fn () => bloom_cache_restore("a\0b"),
);
check_same([], array_diff(scandir(scratch('.dir')), ['.', '..']), 'files in the folder');
check_same([scratch('.dir')], glob(scratch() . '*'), 'files left');
var_dump(bloom_cache_info()['records']);
done();
?>
--EXPECTF--
BloomShm\Exception IO: %s.missing%S
BloomShm\Exception IO: %s.dir%S
%S: %s
BloomShm\Exception IO: %s.nowhere/dump%S
BloomShm\Exception IO: %s.dir%S
%S: %s
ValueError: bloom_cache_dump(): Argument #1 ($path) must not contain any null bytes
ValueError: bloom_cache_restore(): Argument #1 ($path) must not contain any null bytes
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

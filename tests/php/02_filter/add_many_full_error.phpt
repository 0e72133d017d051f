--TEST--
bloom_add_many() past the capacity throws FULL and adds none of the keys
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/add_many_full_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 10, expansion: 0);
bloom_add_many('f', keys('k', 8));
show_thrown(
    fn () => bloom_add_many('f', ['x', 'y', 'z']),
    fn () => bloom_add_many('f', new ArrayIterator(['k0', 'x', 'y', 'z'])),
);
var_dump(count_yes('f', ['x', 'y', 'z']), bloom_info('f')['items']);
// Keys that are there need no room, nor does a key that is named twice.
var_dump(bloom_add_many('f', [...keys('k', 8), 'x', 'x', 'y', 'y']));
var_dump(bloom_add_many('f', [...keys('k', 8), 'x', 'y']));
show_thrown(fn () => bloom_add_many('f', ['k0', 'z']));
var_dump(bloom_maybe_has('f', 'z'), bloom_info('f')['items']);
done();
?>
--EXPECTF--
BloomShm\Exception FULL: %s10%s
BloomShm\Exception FULL: %s10%s
int(0)
int(8)
int(2)
int(0)
BloomShm\Exception FULL: %s10%s
bool(false)
int(10)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

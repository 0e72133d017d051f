--TEST--
bloom_add() past the capacity throws FULL; a key that is there never does
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/add_full_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 10, expansion: 0);
for ($i = 0; $i < 10; $i++) {
    bloom_add('f', "k$i");
}
show_thrown(
    fn () => bloom_add('f', 'one more'),
    fn () => bloom_add('f', 'k3'),
);
var_dump(bloom_maybe_has('f', 'one more'), bloom_info('f')['items']);
// An emptied filter takes keys again.
bloom_clear('f');
var_dump(bloom_add('f', 'one more'));
done();
?>
--EXPECTF--
BloomShm\Exception FULL: %s10%s
nothing thrown, returned false
bool(false)
int(10)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

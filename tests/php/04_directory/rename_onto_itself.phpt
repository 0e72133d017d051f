--TEST--
bloom_rename() onto itself changes nothing and gives true
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/rename_onto_itself.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a', 'b']);
$before = bloom_info('f');
$free = free_bytes();
var_dump(bloom_rename('f', 'f'), bloom_info('f') === $before, bloom_maybe_has('f', 'a'), bloom_maybe_has('f', 'x'), free_bytes() === $free);
done();
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

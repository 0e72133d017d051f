--TEST--
bloom_clear() of a loaded filter, and of an empty one
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/clear_loaded.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$free = free_bytes();
bloom_load('f', keys('k', 1000));
var_dump(bloom_clear('f'), bloom_clear('f'), count_yes('f', keys('k', 1000)), bloom_info('f')['type']);
var_dump(bloom_add('f', 'a'), bloom_maybe_has('f', 'a'));
bloom_drop('f');
var_dump(free_bytes() === $free);
done();
?>
--EXPECT--
bool(true)
bool(true)
int(0)
string(8) "scalable"
bool(true)
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

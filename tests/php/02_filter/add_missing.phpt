--TEST--
bloom_add() and bloom_add_many() to a missing filter change nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/add_missing.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_add('f', 'a'), bloom_add_many('f', ['a', 'b']), bloom_list(), bloom_info('f'));
// A nearly empty filter that says no would be the harm.
var_dump(bloom_maybe_has('f', 'c'));
done();
?>
--EXPECT--
bool(false)
int(0)
array(0) {
}
NULL
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

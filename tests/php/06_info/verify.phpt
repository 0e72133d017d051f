--TEST--
bloom_verify() of a sound segment is empty, in the middle of things too; where there is none it says so; without one it says so
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/verify.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(count(bloom_verify()));
create_segment();
var_dump(bloom_verify());
bloom_load('f', (function () {
    yield 'a';
    check_same([], bloom_verify(), 'during a load');
    yield 'b';
})());
bloom_copy('f', 'g');
bloom_drop('f');
var_dump(bloom_verify());
?>
--EXPECT--
int(1)
array(0) {
}
array(0) {
}
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

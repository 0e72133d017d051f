--TEST--
bloom_load(): the default expansion makes a scalable filter, 0 a fixed one
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_expansion.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ([2, 7, 32, 0] as $expansion) {
    $info = bloom_load('f', keys('k', 100), expansion: $expansion);
    var_dump($info['type'], $info['expansion'], count($info['layers']));
}
?>
--EXPECT--
string(8) "scalable"
int(2)
int(1)
string(8) "scalable"
int(7)
int(1)
string(8) "scalable"
int(32)
int(1)
string(5) "fixed"
int(0)
int(1)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

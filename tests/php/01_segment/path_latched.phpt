--TEST--
The path is latched: a request cannot point a process at another segment
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/path_latched.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(ini_set('bloomshm.path', segment() . '.other'));
bloom_reserve('f', 10, expansion: 0);
var_dump(ini_set('bloomshm.path', segment() . '.other'), ini_set('bloomshm.enable', '0'), ini_set('bloomshm.readonly', '1'));
var_dump(bloom_add('f', 'a'), file_exists(segment()), file_exists(segment() . '.other'));
done();
?>
--EXPECT--
bool(false)
bool(false)
bool(false)
bool(false)
bool(true)
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

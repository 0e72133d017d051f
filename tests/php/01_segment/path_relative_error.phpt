--TEST--
A relative bloomshm.path is refused, and the default stays
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path=path_relative_error.seg
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(ini_get('bloomshm.path'), file_exists('path_relative_error.seg'));
?>
--EXPECTF--
%abloomshm.path must be an absolute path, "path_relative_error.seg" given; the old value stays%a
string(%d) "%r(\/dev\/shm\/bloomshm\.%u|%ProgramData%\\bloomshm\\%u\.seg)%r"
bool(false)

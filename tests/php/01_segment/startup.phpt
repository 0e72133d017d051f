--TEST--
Starting and ending a process touches no segment
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/startup.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

echo Child::run('echo extension_loaded("bloomshm") ? "loaded\n" : "";');
var_dump(file_exists(segment()));
?>
--EXPECT--
loaded
bool(false)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

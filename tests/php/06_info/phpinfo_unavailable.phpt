--TEST--
phpinfo() of a segment that cannot be used shows why, and does not fail
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/phpinfo_unavailable.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mkdir(segment());
$ri = Child::run('', command: [...Child::php(), '--ri', 'bloomshm']);
var_dump(str_contains($ri, segment()), str_contains($ri, 'rror') && str_contains($ri, 'atal'));
?>
--EXPECT--
bool(true)
bool(false)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

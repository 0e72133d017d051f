--TEST--
phpinfo() shows the path in use and the state
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/phpinfo.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a']);
ob_start();
phpinfo(INFO_MODULES);
$text = ob_get_clean();
preg_match('/^bloomshm\n(.*?)^\w+\n\n/ms', $text . "\nend\n\n", $match);
var_dump(str_contains($match[1] ?? '', segment()));
// The same from the command line, for a process that has not used the segment yet.
$ri = Child::run('', command: [...Child::php(), '--ri', 'bloomshm']);
var_dump(str_contains($ri, segment()), str_contains($ri, 'bloomshm.filter_memory'));
$ri = Child::run('', command: [...Child::php(['bloomshm.enable' => '0']), '--ri', 'bloomshm']);
var_dump(str_contains($ri, 'bloomshm.enable'));
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

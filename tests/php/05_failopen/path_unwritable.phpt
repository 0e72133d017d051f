--TEST--
A path in a directory where the user may not write
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/path_unwritable.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$dir = make_shared_dir(__FILE__);
chmod($dir, 0555);
$code = 'show_fail_open();';
$ini = ['bloomshm.path' => "$dir/x.seg"];
echo posix_geteuid() === 0 ? Child::run_as(12001, 12000, $code, $ini) : Child::run($code, $ini);
chmod($dir, 0755);
var_dump(scandir($dir));
?>
--EXPECTF--
maybe_has: true
maybe_has_many: {"x":true,"y":true}
add: false
add_many: 0
drop: false
clear: false
remove: false
count: 15
ready: false
list: []
info: null
reserve: UNAVAILABLE
load: UNAVAILABLE
load_file: UNAVAILABLE
rename: UNAVAILABLE
copy: UNAVAILABLE
insert: UNAVAILABLE
merge: UNAVAILABLE
dump: UNAVAILABLE
restore: UNAVAILABLE
available: false
reason: %s
array(2) {
  [0]=>
  string(1) "."
  [1]=>
  string(2) ".."
}
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

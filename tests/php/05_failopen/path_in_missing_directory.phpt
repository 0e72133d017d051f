--TEST--
A path in a directory that does not exist
--EXTENSIONS--
bloomshm
--INI--
bloomshm.filter_memory=1M
bloomshm.path={PWD}/path_in_missing_directory.tmp/deeper/path_in_missing_directory.seg
--FILE--
<?php
require __DIR__ . '/../helper.inc';

show_fail_open();
var_dump(file_exists(dirname(segment())));
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
bool(false)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

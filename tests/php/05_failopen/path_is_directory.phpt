--TEST--
A directory at the path: maybe, UNAVAILABLE, and a reason
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/path_is_directory.seg
bloomshm.filter_memory=1M
bloomshm.missing_filter=throw
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mkdir(segment());
show_fail_open();
var_dump(is_dir(segment()), scandir(segment()));
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
bool(true)
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

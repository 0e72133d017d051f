--TEST--
An empty file at the path
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/empty_file.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

touch(segment());
chmod(segment(), 0600);
show_fail_open();
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
reserve: CORRUPT
load: CORRUPT
load_file: CORRUPT
rename: CORRUPT
copy: CORRUPT
insert: CORRUPT
merge: CORRUPT
dump: CORRUPT
restore: CORRUPT
available: false
reason: %s
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

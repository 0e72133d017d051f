--TEST--
bloomshm.enable=0: questions say maybe, changes give false or 0, what would create throws UNAVAILABLE
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/disabled.seg
bloomshm.filter_memory=1M
bloomshm.enable=0
bloomshm.missing_filter=throw
--FILE--
<?php
require __DIR__ . '/../helper.inc';

show_fail_open();
var_dump(file_exists(segment()));
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
reason: %sbloomshm.enable%S
bool(false)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

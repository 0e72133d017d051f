--TEST--
A segment that the user may not even open
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/foreign_private.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (posix_geteuid() !== 0) { die('skip needs root to act as two users'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$ini = ['bloomshm.path' => make_shared_dir(__FILE__) . '/x.seg'];
echo Child::run_as(12001, 12000, 'bloom_load("f", ["of another"]);', $ini);
echo Child::run_as(12002, 12002, 'show_fail_open();', $ini);
echo Child::run_as(12001, 12000, 'var_dump(bloom_maybe_has("f", "of another"));', $ini);
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
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

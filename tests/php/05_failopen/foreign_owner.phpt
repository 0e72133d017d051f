--TEST--
A segment of another user is refused, even one that all may write: it could lie
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/foreign_owner.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (posix_geteuid() !== 0) { die('skip needs root to make a file of another user'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

echo Child::run('bloom_load("f", ["of another"]);');
chmod(segment(), 0666);
chown(segment(), 12001);
show_fail_open();

// The same for a user who is not root.
$dir = make_shared_dir(__FILE__);
$ini = ['bloomshm.path' => "$dir/x.seg"];
echo Child::run_as(12001, 12000, 'bloom_load("f", ["of another"]);', $ini);
chmod("$dir/x.seg", 0666);
echo Child::run_as(12002, 12002, 'show_fail_open();', $ini);
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
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

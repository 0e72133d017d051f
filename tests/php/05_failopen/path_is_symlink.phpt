--TEST--
A symbolic link at the path is not followed, not even to a sound segment
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/path_is_symlink.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

echo Child::run('bloom_load("f", ["other"]);', ['bloomshm.path' => segment() . '.target']);
symlink(segment() . '.target', segment());
show_fail_open();
// Nor does a dangling one make us create its target.
unlink(segment());
symlink(segment() . '.nowhere', segment());
echo Child::run('show_thrown(fn () => bloom_reserve("f", 10, expansion: 0));');
var_dump(file_exists(segment() . '.nowhere'), is_link(segment()));
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
BloomShm\Exception UNAVAILABLE: %s
bool(false)
bool(true)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

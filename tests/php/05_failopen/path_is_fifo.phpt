--TEST--
A FIFO at the path: no call hangs
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/path_is_fifo.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (!function_exists('posix_mkfifo')) { die('skip needs posix_mkfifo()'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

posix_mkfifo(segment(), 0600);
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

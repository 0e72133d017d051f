--TEST--
A file that is no segment is refused as damaged, and left as it is
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/other_magic.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

echo Child::run('bloom_load("f", ["a"]);');
$file = fopen(segment(), 'r+');
fwrite($file, 'SQLite format 3');
fclose($file);
$before = md5_file(segment());
show_fail_open();
var_dump(md5_file(segment()) === $before);
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
bool(true)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
A segment of a build with another layout is refused as INCOMPATIBLE, and left as it is
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/other_layout.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

echo Child::run('bloom_load("f", ["a"]);');
$file = fopen(segment(), 'r+');
// The layout word: see docs/FORMAT.md.
fseek($file, 8);
$word = fread($file, 8);
fseek($file, 8);
fwrite($file, ~$word);
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
reserve: INCOMPATIBLE
load: INCOMPATIBLE
load_file: INCOMPATIBLE
rename: INCOMPATIBLE
copy: INCOMPATIBLE
insert: INCOMPATIBLE
merge: INCOMPATIBLE
dump: INCOMPATIBLE
restore: INCOMPATIBLE
available: false
reason: %slayout%S
bool(true)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
A full file system: NO_SPACE where something would be created, maybe elsewhere, no SIGBUS, no litter
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/file_system_full.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (posix_geteuid() !== 0) { die('skip needs root to mount a small file system'); }
exec('unshare -m sh -c "mount -t tmpfs -o size=512k none /mnt" 2>&1', $output, $code);
if ($code !== 0) { die('skip mounting is not permitted here'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mkdir(scratch('.mnt'));
$code = <<<'PHP'
    show_fail_open();
    var_dump(array_values(preg_grep('/seg/', scandir(dirname(segment())))));
    PHP;
$php = Child::command($code, ['bloomshm.path' => scratch('.mnt') . '/x.seg']);
$shell = 'mount -t tmpfs -o size=512k none ' . escapeshellarg(scratch('.mnt')) . ' && exec ' . $php;
echo Child::run('', command: 'unshare -m sh -c ' . escapeshellarg($shell));
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
reserve: NO_SPACE
load: NO_SPACE
load_file: NO_SPACE
rename: NO_SPACE
copy: NO_SPACE
insert: NO_SPACE
merge: NO_SPACE
dump: NO_SPACE
restore: NO_SPACE
available: false
reason: %s
array(0) {
}
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

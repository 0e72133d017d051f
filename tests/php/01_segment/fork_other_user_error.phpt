--TEST--
A forked child that has become another user cannot write, and says why
--EXTENSIONS--
bloomshm
posix
pcntl
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip not root');
}
?>
--INI--
bloomshm.path={PWD}/fork_other_user_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a']);
$pid = pcntl_fork();
if ($pid === 0) {
    posix_setuid(65534);
    var_dump(bloom_maybe_has('f', 'a'), bloom_maybe_has('f', 'x'));
    echo str_replace(segment(), 'PATH', thrown_by(fn () => bloom_reserve('g', 10, expansion: 0))), "\n";
    exit;
}
pcntl_waitpid($pid, $status);
done();
?>
--EXPECT--
bool(true)
bool(false)
BloomShm\Exception UNAVAILABLE: this process is attached to PATH, and cannot open it once more to take a lock: Permission denied
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

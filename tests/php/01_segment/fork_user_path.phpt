--TEST--
A forked child that has become another user uses the segment of that user from its first call on
--DESCRIPTION--
%u in bloomshm.path is the number of the user. The parent asks just before the fork: its next
questions would not look at the path.
--EXTENSIONS--
bloomshm
pcntl
posix
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip only root can become another user');
}
?>
--INI--
bloomshm.path=/dev/shm/bloomshm-phpt-fork_user_path.%u
--FILE--
<?php
require __DIR__ . '/../helper.inc';

const NOBODY = 65534;
umask(0);
bloom_load('users', ['of root']);
check(!bloom_maybe_has('users', 'of nobody'), 'the parent says "no"');
$pid = pcntl_fork();
if ($pid === 0) {
    posix_setgid(NOBODY);
    posix_setuid(NOBODY);
    check(bloom_maybe_has('users', 'of nobody'), 'the child, without a segment, says "maybe"');
    bloom_load('users', ['of nobody']);
    check(!bloom_maybe_has('users', 'of root'), 'the child has a filter of its own');
    check_same(
        '/dev/shm/bloomshm-phpt-fork_user_path.' . NOBODY, bloom_status()['path'], 'its path'
    );
    exit(0);
}
pcntl_waitpid($pid, $status);
check_same(0, $status, 'status of the child');
check(bloom_maybe_has('users', 'of root'), 'the parent keeps its filter');
check(!bloom_maybe_has('users', 'of nobody'), 'the parent keeps its segment');
echo "done\n";
?>
--CLEAN--
<?php
array_map('unlink', glob('/dev/shm/bloomshm-phpt-fork_user_path.*'));
?>
--EXPECT--
done

--TEST--
A child forked before the first use creates the segment for both
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/fork_first_use.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$pid = pcntl_fork();
if ($pid === 0) {
    bloom_load('f', ['a']);
    posix_kill(posix_getpid(), SIGKILL);
}
pcntl_waitpid($pid, $status);
var_dump(bloom_maybe_has('f', 'a'), bloom_maybe_has('f', 'b'), bloom_status()['attached']);
done();
?>
--EXPECT--
bool(true)
bool(false)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
The memory of a killed loader comes back although a process that it forked lives on
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/load_killed_after_fork.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['old']);
$free = free_bytes();
$loader = new Child(<<<'PHP'
    bloom_load('f', (function () {
        yield from keys('k', 10000);
        if (pcntl_fork() === 0) {
            fgets(STDIN);
            exit;
        }
        echo getmypid(), "\n";
        pcntl_wait($status);
    })(), capacity: 20000);
    PHP);
$pid = (int) $loader->hear();
posix_kill($pid, SIGKILL);
pcntl_waitpid($pid, $status);
var_dump(free_bytes() === $free, bloom_maybe_has('f', 'old'), bloom_load('f', ['new'])['keys']);
$loader->end();
var_dump(bloom_status()['attached']);
done();
?>
--EXPECT--
bool(true)
bool(true)
int(1)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

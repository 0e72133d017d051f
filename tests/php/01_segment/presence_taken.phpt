--TEST--
While another process has a segment on a disk alone, a report does not wait, and an add does
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/presence_taken.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=1M
--SKIPIF--
<?php
if (shell_exec('python3 -c "print(1)" 2>/dev/null') !== "1\n") { die('skip needs python3, which can lock as a process that wakes a segment does'); }
if (@stat('/dev/shm') && @stat('/dev/shm')['dev'] === stat(__DIR__)['dev']) { die('skip needs a folder on a disk'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

Child::run('bloom_load("f", ["a"]);'); // its end brings the segment to rest
$waker = new Child('', command: 'python3 -c ' . escapeshellarg(<<<'PY'
import fcntl, os, struct, sys
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(fd, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, (1 << 62) - 2, 1, 0)) # F_OFD_SETLK
print("alone", flush=True)
sys.stdin.readline()
PY) . ' ' . escapeshellarg(segment()));
echo $waker->hear(), "\n";

/** Naps of the process while it makes the call. */
function naps(callable $call): int
{
    $naps = -getrusage()['ru_nvcsw'];
    $call();
    return $naps + getrusage()['ru_nvcsw'];
}

// One attempt switches a few times, for the disk. A wait of a second is some hundred attempts.
$reports = naps('bloom_status') + naps('bloom_list') + naps('bloom_status');
$naps = naps(fn () => show_thrown(fn () => bloom_add('f', 'b')));
check($naps > 4 * $reports, "an add waits, three reports do not: $naps and $reports naps");
$waker->kill();
var_dump(bloom_status()['available'], bloom_add('f', 'b'));
done();
?>
--EXPECTF--
alone
BloomShm\Exception UNAVAILABLE: %s
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

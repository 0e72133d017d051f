--TEST--
A creator that is stopped: no call waits for long, and each learns which process it is
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/stopped_creator.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=1M
--SKIPIF--
<?php
if (shell_exec('python3 -c "print(1)" 2>/dev/null') !== "1\n") { die('skip needs python3, which can lock as a creator does'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// As docs/FORMAT.md has it: the new file is locked, and begins with its creator's process id.
$creator = new Child('', command: 'python3 -c ' . escapeshellarg(<<<'PY'
import fcntl, os, struct, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
os.write(fd, struct.pack("Q", os.getpid()))
fcntl.fcntl(fd, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, (1 << 62) - 1, 1, 0)) # F_OFD_SETLK
print(os.getpid(), flush=True)
sys.stdin.readline()
PY) . ' ' . escapeshellarg(segment() . '.new'));
$pid = $creator->hear();

// A call that only asks or reports does not even try.
var_dump(bloom_maybe_has('f', 'a'), bloom_cache_get('r'), bloom_status()['available']);

/** Naps of the process: each is one attempt of 2 ms, whatever the machine does meanwhile. */
$calls = [
    fn () => bloom_load('f', ['a']),
    fn () => bloom_insert('f', ['a']),
    fn () => bloom_cache_increment('r'),
    fn () => bloom_cache_set('r', 1),
    fn () => bloom_cache_set_many(array_fill(0, 200, 1)),
    fn () => bloom_cache_remember('r', fn () => 'loaded'),
    fn () => bloom_fetch('f', 'a', fn () => 'fetched'),
];
// What a call waits for sleeps: a sleeper's switches are counted, and no more than those of one wait are made.
$naps = -getrusage()['ru_nvcsw'];
show_thrown($calls[0]);
$naps += getrusage()['ru_nvcsw'];
check($naps > 1 && $naps < 1000, "a batch naps for a second: $naps naps");
$naps = -getrusage()['ru_nvcsw'];
foreach (array_fill(0, 20, $calls) as $round) {
    foreach ($round as $call) {
        $told = thrown_by($call);
        check(!str_contains($told, 'BloomShm') || str_contains($told, "process $pid of uid "), $told);
    }
}
$naps += getrusage()['ru_nvcsw'];
check($naps < 10 * 500, "140 calls nap together for what a few naps last: $naps naps");
var_dump(bloom_cache_remember('r', fn () => 'loaded'), bloom_cache_set('r', 1), bloom_fetch('f', 'a', fn () => 'fetched'));
check(str_contains((string) bloom_status()['last_error'], "process $pid of uid "), 'the last error');
$creator->kill();
var_dump(bloom_cache_set('r', 1), bloom_status()['available']);
done();
?>
--EXPECTF--
bool(true)
NULL
bool(false)
BloomShm\Exception UNAVAILABLE: process %d of uid %d is still creating %sstopped_creator.seg; if it is stopped, %s
string(6) "loaded"
bool(false)
string(7) "fetched"
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

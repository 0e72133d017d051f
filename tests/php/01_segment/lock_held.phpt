--TEST--
A living process's lock is never stolen and does not block for ever; a dead one's is taken over
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/lock_held.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// As docs/FORMAT.md has it: the lock word at 64, the owners from 4096 on; an owner word is generation << 16 | slot + 1.
bloom_load('f', keys('k', 100));
$holder = new Child('bloom_reserve("of the holder", 10, expansion: 0); echo getmypid(), "\n"; fgets(STDIN);');
$pid = (int) $holder->hear();
$file = fopen(segment(), 'r+');
fseek($file, 4096);
$owners = array_chunk(unpack('P*', fread($file, 2048 * 16)), 2);
$slot = array_search($pid, array_column($owners, 1), true);
check($slot !== false, 'the holder has a slot');
fseek($file, 64);
fwrite($file, pack('P', $owners[$slot][0] << 16 | ($slot + 1)));
fflush($file);
// Stopped, not dead.
posix_kill($pid, SIGSTOP);

show_thrown(
    fn () => bloom_reserve('g', 10, expansion: 0),
    fn () => bloom_load('f', ['a']),
    fn () => bloom_drop('f'),
);
// Questions and plain adds need no lock.
var_dump(count_no('f', keys('k', 100)), bloom_maybe_has('f', 'absent'), bloom_add('f', 'added'), bloom_list());
$status = bloom_status(); // gives up waiting too, and counts itself
var_dump($status['lock_timeouts'], $status['repairs'], $status['available']);

$holder->kill();
var_dump(bloom_reserve('g', 10, expansion: 0), bloom_load('f', ['a'])['keys'], bloom_status()['repairs'] > 0, bloom_list());
done();
?>
--EXPECTF--
BloomShm\Exception TIMEOUT: %s
BloomShm\Exception TIMEOUT: %s
BloomShm\Exception TIMEOUT: %s
int(0)
bool(false)
bool(true)
array(2) {
  [0]=>
  string(1) "f"
  [1]=>
  string(13) "of the holder"
}
int(4)
int(0)
bool(true)
bool(true)
int(1)
bool(true)
array(3) {
  [0]=>
  string(1) "f"
  [1]=>
  string(1) "g"
  [2]=>
  string(13) "of the holder"
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

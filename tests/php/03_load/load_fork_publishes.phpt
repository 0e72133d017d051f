--TEST--
A forked child that goes on with the parent's generator publishes nothing in its place
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/load_fork_publishes.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// The load belongs to the process that began it. What the copy in the child gets is an exception or its own whole set;
// the parent's filter is published whole, and the segment is sound.
bloom_load('f', ['old']);
$child = null;
try {
    bloom_load('f', (function () use (&$child) {
        yield from keys('k', 5000);
        $child = pcntl_fork();
        if ($child > 0) {
            pcntl_waitpid($child, $status);
        }
        yield from keys('more ', 5000);
    })());
} catch (BloomShm\Exception) {
    check($child === 0, 'only the child may fail');
}
if ($child === 0) {
    posix_kill(posix_getpid(), SIGKILL);
}
var_dump(count_no('f', [...keys('k', 5000), ...keys('more ', 5000)]), bloom_list());
bloom_drop('f');
check(free_bytes() > (1 << 20) * 0.9, 'free bytes');
done();
?>
--EXPECT--
int(0)
array(1) {
  [0]=>
  string(1) "f"
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

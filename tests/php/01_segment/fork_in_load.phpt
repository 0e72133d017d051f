--TEST--
A child forked inside a load's generator neither publishes nor takes anything from its parent
--EXTENSIONS--
bloomshm
pcntl
posix
--INI--
bloomshm.path={PWD}/fork_in_load.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['old']);
$child = false;
$keys = (function () use (&$child) {
    yield 'a';
    for ($i = 0; $i < 300; $i++) { // more than a child would leave in the journal
        bloom_add('f', "added $i");
    }
    if (pcntl_fork() === 0) {
        $child = true;
        for ($i = 0; $i < 5; $i++) {
            yield "from the child $i";
        }
    } else {
        pcntl_wait($status);
        yield 'b';
    }
})();
try {
    bloom_load('f', $keys);
} catch (BloomShm\Exception $e) {
    echo $child ? 'child: ' : 'parent: ', $e->getMessage(), "\n";
}
if ($child) {
    posix_kill(posix_getpid(), SIGKILL);
}
var_dump(count_no('f', ['a', 'b', ...keys('added ', 300)]), bloom_maybe_has('f', 'old'), bloom_verify());
done();
?>
--EXPECTF--
child: only the process that began a load can finish it
int(0)
bool(false)
array(0) {
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

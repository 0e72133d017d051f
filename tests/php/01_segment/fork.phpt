--TEST--
A forked child is a process of its own: both add, both see
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/fork.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 10000, expansion: 0, seed: 'fixed');
bloom_add_many('f', keys('before ', 100));
$pid = pcntl_fork();
if ($pid === 0) {
    $ok = count_no('f', keys('before ', 100)) === 0
        && bloom_add_many('f', keys('child ', 100)) === 100
        && bloom_reserve('of the child', 10, expansion: 0)
        && bloom_status()['attached'] === 2;
    posix_kill(posix_getpid(), $ok ? SIGTERM : SIGKILL);
}
bloom_add_many('f', keys('parent ', 100));
pcntl_waitpid($pid, $status);
check_same(SIGTERM, pcntl_wtermsig($status), 'all was well in the child');
var_dump(bloom_status()['attached'], bloom_list());
var_dump(count_no('f', [...keys('before ', 100), ...keys('child ', 100), ...keys('parent ', 100)]), bloom_info('f')['items']);
done();
?>
--EXPECT--
int(1)
array(2) {
  [0]=>
  string(1) "f"
  [1]=>
  string(12) "of the child"
}
int(0)
int(300)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

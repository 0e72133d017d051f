--TEST--
A forked child that ends leaves its parent attached and the filters alone
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/fork_exits_first.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('k', 1000));
for ($i = 0; $i < 20; $i++) {
    if (pcntl_fork() === 0) {
        if ($i % 2) {
            bloom_add('f', "child $i");
        }
        exit;
    }
    pcntl_wait($status);
}
var_dump(bloom_status()['attached'], count_no('f', keys('k', 1000)));
for ($i = 1; $i < 20; $i += 2) {
    check(bloom_maybe_has('f', "child $i"), "what child $i added is there");
}
var_dump(bloom_status()['attached'], Child::run('echo bloom_status()["attached"];'));
done();
?>
--EXPECT--
int(1)
int(0)
int(1)
string(1) "2"
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

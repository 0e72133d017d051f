--TEST--
bloom_verify() in a process that cannot take locks: it checks what it can read, and says why not all
--EXTENSIONS--
bloomshm
pcntl
--INI--
bloomshm.path={PWD}/verify_without_lock.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$code = <<<'PHP'
    bloom_load('f', ['a']);
    while (($file = @fopen('/dev/null', 'r')) !== false) {
        $files[] = $file;
    }
    // The child has no place of its own yet, and no descriptor to lock one.
    if (pcntl_fork() === 0) {
        print_r(bloom_verify());
        $files = [];
        print_r(bloom_verify());
        exit;
    }
    pcntl_wait($status);
    $files = [];
    done();
    PHP;
echo Child::run('', command: 'sh -c ' . escapeshellarg('ulimit -n 40; exec ' . Child::command($code)));
?>
--EXPECTF--
Array
(
    [0] => this process is attached to %sverify_without_lock.seg, and cannot open it once more to take a lock: Too many open files
)
Array
(
)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
A fork inside the generator: the child's end takes nothing from the parent's load
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/load_fork.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['old']);
$free = free_bytes() + bloom_info('f')['bytes'];
$ends = [
    'exit' => fn () => exit,
    'exception' => fn () => throw new LogicException('in the child'),
    'kill' => fn () => posix_kill(posix_getpid(), SIGKILL),
    'another load' => function () {
        bloom_load('of the child', ['c']);
        bloom_status();
        exit;
    },
];
foreach ($ends as $name => $end) {
    try {
        bloom_load('f', (function () use ($end) {
            yield from keys('k', 10000);
            if (pcntl_fork() === 0) {
                $end();
            }
            pcntl_wait($status);
            bloom_status();
            reserve_largest('all');
            bloom_drop('all');
            yield from keys('more ', 10000);
        })(), capacity: 20000, seed: 'fixed');
    } catch (LogicException) {
        posix_kill(posix_getpid(), SIGKILL);
    }
    check_same(0, count_no('f', [...keys('k', 10000), ...keys('more ', 10000)]), "$name: denied");
    check(!bloom_maybe_has('f', 'old'), "$name: the old keys are gone");
    check_same([], bloom_verify(), "$name: bloom_verify()");
}
check(bloom_maybe_has('of the child', 'c') && !bloom_maybe_has('of the child', 'd'), 'what the child loaded is there');
bloom_drop('of the child');
check_same($free, free_bytes() + bloom_info('f')['bytes'], 'free bytes');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

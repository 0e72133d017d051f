--TEST--
A time limit that strikes where no user code runs: the worker ends by PHP's hard limit, and nothing of it is left
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/left_load_file_time.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['old']);
$free = free_bytes();
// Empty lines without end: the call never comes back to PHP, which then ends the process itself.
$child = new Child(
    'echo "here\n"; bloom_load_file("f", "/dev/zero", delimiter: "\0"); echo "not reached\n";',
    ['max_execution_time' => 1, 'hard_timeout' => 1, 'display_errors' => '0', 'log_errors' => '0']
);
check_same('here', $child->hear(), 'the child');
$asked = 0;
do {
    check(bloom_maybe_has('f', 'old') && !bloom_maybe_has('f', 'new') && bloom_cache_set('a', ++$asked), 'meanwhile');
    usleep(1000);
} while (bloom_status()['attached'] === 2);
bloom_add('f', 'new');
echo $child->end();
check($asked > 100, "asked meanwhile $asked times");
check_same([$free, 0, 1], [free_bytes(), bloom_status()['lock_timeouts'], bloom_status()['attached']], 'free bytes, timeouts, attached');
var_dump(bloom_maybe_has('f', 'old'), bloom_load('f', ['a'])['keys']);
done();
?>
--EXPECTF--
%AMaximum execution time of 1+1 seconds exceeded (terminated)%A
bool(true)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

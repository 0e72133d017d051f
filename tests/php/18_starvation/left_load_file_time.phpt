--TEST--
A time limit that strikes where no user code runs: the call ends as a script does, and nothing of it is left
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
// Neither source has an end, and PHP does not look at the time while it reads on. A PHP without threads would at
// last end the process (hard_timeout), one with threads would not.
$sources = [
    'bloom_load_file("f", "/dev/zero", delimiter: "\0");',
    'bloom_load("f", new InfiniteIterator(new ArrayIterator(["new"])));',
];
foreach ($sources as $source) {
    $child = new Child(
        'register_shutdown_function(fn () => print "its end\n"); bloom_list(); echo "here\n"; '
            . 'fgets(STDIN); set_time_limit(1); ' . $source . ' echo "not reached\n";',
        ['max_execution_time' => 1, 'hard_timeout' => 0, 'display_errors' => '0', 'log_errors' => '1']
    );
    check_same('here', $child->hear(), 'the child');
    check_same(2, bloom_status()['attached'], 'attached');
    $child->say('go');
    $asked = 0;
    do {
        check(
            bloom_maybe_has('f', 'old') && !bloom_maybe_has('f', 'new') && bloom_cache_set('a', ++$asked),
            'meanwhile'
        );
        usleep(1000);
    } while (bloom_status()['attached'] === 2);
    echo $child->end();
    check($asked > 100, "asked meanwhile $asked times");
    check_same(
        [$free, 0, 1], [free_bytes(), bloom_status()['lock_timeouts'], bloom_status()['attached']],
        'free bytes, timeouts, attached'
    );
}
bloom_add('f', 'new');
var_dump(bloom_maybe_has('f', 'old'), bloom_load('f', ['a'])['keys']);
done();
?>
--EXPECTF--
%AMaximum execution time of 1 second exceeded in %A
its end
%AMaximum execution time of 1 second exceeded in %A
its end
bool(true)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

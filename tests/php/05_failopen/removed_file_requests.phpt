--TEST--
The file removed between two requests: the first call of the next one looks
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/removed_file_requests.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// Two calls a request: nothing but a new request's first call can find out.
file_put_contents(scratch('.php'), <<<'PHP'
    <?php
    require '%s';
    if (!file_exists(scratch('.1'))) {
        bloom_load('f', ['a']);
        touch(scratch('.1'));
    } elseif (!file_exists(scratch('.2'))) {
        touch(scratch('.2'));
        unlink(segment());
        Child::run('bloom_load("f", ["b"]);');
        usleep(1_100_000);
    }
    echo (int) bloom_maybe_has('f', 'a'), (int) bloom_maybe_has('f', 'b'), "\n";
    PHP);
file_put_contents(scratch('.php'), str_replace('%s', dirname(__DIR__) . '/helper.inc', file_get_contents(scratch('.php'))));
echo preg_replace('/.*xecut.*\n/', '', Child::run('', command: [...Child::php(), '--repeat', '3', '-f', scratch('.php')]));
done();
?>
--EXPECT--
10
01
01
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
A process that finds that its file was removed says so in the log, once a minute
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/removed_file_logged.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$log = ['log_errors' => '1', 'error_log' => scratch('.log')];
echo Child::run(<<<'PHP'
    for ($i = 0; $i < 3; $i++) {
        bloom_load('f', ['a']);
        unlink(segment());
        check(!bloom_status()['available'], 'the file is gone');
    }
    // An unusable segment is another line.
    mkdir(segment());
    bloom_maybe_has('f', 'a');
    rmdir(segment());
    PHP, $log);
echo file_get_contents(scratch('.log'));
done();
?>
--EXPECTF--
[%s] bloomshm: %sremoved_file_logged.seg was removed or replaced while this process was attached to it
[%s] bloomshm: cannot open %sremoved_file_logged.seg (bloomshm.path): %s
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

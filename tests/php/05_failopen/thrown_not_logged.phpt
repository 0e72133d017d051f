--TEST--
An error that a call throws is not written to the log as well
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/thrown_not_logged.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (ini_get('opcache.preload')) { die('skip a preload script has called before'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mkdir(segment());
$log = ['log_errors' => '1', 'display_errors' => '0', 'error_log' => scratch('.log')];
echo Child::run(<<<'PHP'
    show_thrown(
        fn () => bloom_load('f', ['a']),
        fn () => bloom_reserve('f', 10),
        fn () => bloom_copy('f', 'g'),
        fn () => bloom_cache_increment('n'),
    );
    PHP, $log);
var_dump(file_exists(scratch('.log')));
// A call that goes on without a segment is what the log is for, also after one that throws.
echo Child::run('thrown_by(fn () => bloom_load("f", ["a"])); bloom_cache_set("r", 1);', $log);
var_dump(count(file(scratch('.log'))));
done();
?>
--EXPECTF--
BloomShm\Exception UNAVAILABLE: %sthrown_not_logged.seg%s
BloomShm\Exception UNAVAILABLE: %sthrown_not_logged.seg%s
BloomShm\Exception UNAVAILABLE: %sthrown_not_logged.seg%s
BloomShm\Exception UNAVAILABLE: %sthrown_not_logged.seg%s
bool(false)
int(1)
bloom_verify: %sthrown_not_logged.seg%s
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
An unusable segment is written to the SAPI's log, once a minute and process, and its answers are counted
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/unusable_logged.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (ini_get('opcache.preload')) { die('skip a preload script has called before'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mkdir(segment());
$code = <<<'PHP'
    set_error_handler(function () { echo "a PHP warning\n"; });
    for ($i = 0; $i < 3; $i++) {
        bloom_maybe_has('f', 'a');
        bloom_maybe_has_many('f', ['a', 'b']);
        bloom_cache_set('r', 1);
        bloom_cache_get('r');
        bloom_fetch('f', 'a', fn () => 1);
        thrown_by(fn () => bloom_load('f', ['a']));
    }
    var_dump(bloom_status()['missing_answers'], is_string(bloom_status()['last_error']));
    PHP;
$log = ['log_errors' => '1', 'error_log' => scratch('.log')];
echo Child::run($code, $log);
$lines = file(scratch('.log'));
var_dump(count($lines));
echo $lines[0];
// Without a file it is the SAPI's own; log_errors = 0 means none at all.
echo Child::run('bloom_maybe_has("f", "a");', ['log_errors' => '1']), Child::run('bloom_maybe_has("f", "a");', ['log_errors' => '0']);
// What is switched off, or only not there yet, is not unusable.
rmdir(segment());
echo Child::run('bloom_maybe_has("f", "a"); var_dump(bloom_status()["missing_answers"]);', ['log_errors' => '1']);
echo Child::run('bloom_maybe_has("f", "a"); var_dump(bloom_status()["missing_answers"]);', ['log_errors' => '1', 'bloomshm.enable' => '0']);
done();
?>
--EXPECTF--
int(12)
bool(true)
int(1)
[%s] bloomshm: %sunusable_logged.seg%s
bloomshm: %sunusable_logged.seg%s
int(1)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
A segment that could not be attached is looked at again on a later call
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/reachable_later.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mkdir(segment());
var_dump(bloom_maybe_has('f', 'absent'), bloom_status()['available']);
rmdir(segment());
echo Child::run('bloom_load("f", ["a"]);');
// "Later" may be measured in time, not in calls: ask until it is there, or for a minute.
$deadline = hrtime(true) + 60 * 10 ** 9;
do {
    $answer = bloom_maybe_has('f', 'absent');
} while ($answer && hrtime(true) < $deadline);
var_dump($answer, bloom_maybe_has('f', 'a'), bloom_status()['available']);
done();
?>
--EXPECT--
bool(true)
bool(false)
bool(false)
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

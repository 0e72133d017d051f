--TEST--
With mode 0660 the users of a group share a segment
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/mode_group.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (posix_geteuid() !== 0) { die('skip needs root to act as several users'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$ini = ['bloomshm.mode' => '0660', 'bloomshm.path' => make_shared_dir(__FILE__) . '/group.seg'];
echo Child::run_as(12001, 12000, 'bloom_load("f", ["first"]); echo "loaded\n";', $ini);
echo Child::run_as(12002, 12000, <<<'PHP'
    var_dump(bloom_status()['owner_uid'], bloom_maybe_has('f', 'first'), bloom_maybe_has('f', 'no'), bloom_add('f', 'second'));
    PHP, $ini);
echo Child::run_as(12001, 12000, 'var_dump(bloom_maybe_has("f", "second")); done();', $ini);
?>
--EXPECT--
loaded
int(12001)
bool(true)
bool(false)
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

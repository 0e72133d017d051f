--TEST--
A dump onto a full file system: IO, the older file stays, nothing is left beside it
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/dump_file_system_full_error.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (posix_geteuid() !== 0) { die('skip needs root to mount a small file system'); }
exec('unshare -m sh -c "mount -t tmpfs -o size=48k none /mnt" 2>&1', $output, $code);
if ($code !== 0) { die('skip mounting is not permitted here'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mkdir(scratch('.mnt'));
bloom_load('small', ['a']);
bloom_load('large', keys('k', 60000));
$code = <<<'PHP'
    $file = scratch('.mnt') . '/dump';
    bloom_dump('small', $file);
    $sum = md5_file($file);
    show_thrown(fn () => bloom_dump('large', $file), fn () => bloom_dump('large', scratch('.mnt') . '/other'));
    var_dump($sum === md5_file($file), scandir(scratch('.mnt')), bloom_restore('again', $file), bloom_maybe_has('again', 'a'));
    PHP;
$shell = 'mount -t tmpfs -o size=48k none ' . escapeshellarg(scratch('.mnt')) . ' && exec ' . Child::command($code);
echo Child::run('', command: 'unshare -m sh -c ' . escapeshellarg($shell));
var_dump(count_no('large', keys('k', 60000)));
done();
?>
--EXPECTF--
BloomShm\Exception IO: cannot write the file %s: No space left on device
BloomShm\Exception IO: cannot write the file %s: No space left on device
bool(true)
array(3) {
  [0]=>
  string(1) "."
  [1]=>
  string(2) ".."
  [2]=>
  string(4) "dump"
}
bool(true)
bool(true)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

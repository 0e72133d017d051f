--TEST--
Folders and files of other users: IO with the system's reason
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/dump_users_error.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (posix_geteuid() !== 0) { die('skip needs root to become another user'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$dir = make_shared_dir(__FILE__);
bloom_load('f', ['a']);
bloom_dump('f', "$dir/of root");
mkdir("$dir/closed", 0755);
echo Child::run_as(65534, 65534, <<<PHP
    bloom_load('f', ['b']);
    show_thrown(
        fn () => bloom_dump('f', '$dir/closed/x'),
        fn () => bloom_restore('f', '$dir/of root'),
        fn () => bloom_dump('f', '$dir/mine') > 8192,
        fn () => bloom_restore('f', '$dir/mine'),
    );
    var_dump(bloom_maybe_has('f', 'b'));
    PHP, ['bloomshm.path' => "$dir/other.seg"]);
var_dump(array_values(array_diff(scandir($dir), ['.', '..'])), scandir("$dir/closed"));
// Root may read it; whose file it is does not matter then.
var_dump(bloom_restore('g', "$dir/mine"), bloom_maybe_has('g', 'b'));
done();
?>
--EXPECTF--
BloomShm\Exception IO: cannot create the file %sclosed/x: Permission denied
BloomShm\Exception IO: cannot open the file %sof root: Permission denied
nothing thrown, returned true
nothing thrown, returned true
bool(true)
array(4) {
  [0]=>
  string(6) "closed"
  [1]=>
  string(4) "mine"
  [2]=>
  string(7) "of root"
  [3]=>
  string(9) "other.seg"
}
array(2) {
  [0]=>
  string(1) "."
  [1]=>
  string(2) ".."
}
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

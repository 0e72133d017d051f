--TEST--
open_basedir holds for the file and for its folder, links included, but not for the segment
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/dump_open_basedir_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mkdir(scratch('.inside'));
mkdir(scratch('.outside'));
bloom_load('f', ['a']);
bloom_dump('f', scratch('.inside') . '/sound');
bloom_dump('f', scratch('.outside') . '/sound');
symlink(scratch('.outside') . '/sound', scratch('.inside') . '/link out');
symlink(scratch('.inside') . '/sound', scratch('.outside') . '/link in');
symlink(scratch('.outside'), scratch('.inside') . '/folder out');
echo Child::run(<<<'PHP'
    [$in, $out] = [scratch('.inside'), scratch('.outside')];
    ini_set('open_basedir', $in);
    var_dump(bloom_dump('f', "$in/dump") > 8192, bloom_restore('f', "$in/sound"));
    foreach (["$out/sound", "$out/new", "$in/../" . basename($out) . '/sound', "$in/link out", "$in/folder out/sound"] as $path) {
        show_thrown(fn () => bloom_dump('f', $path), fn () => bloom_restore('f', $path));
    }
    // It leads to a file that is allowed, but a dump would replace the link, which is not.
    show_thrown(fn () => bloom_dump('f', "$out/link in"));
    // A relative path is looked at from the current folder.
    chdir($in);
    var_dump(bloom_dump('f', 'relative') > 8192, bloom_restore('f', './relative'), bloom_status()['available']);
    show_thrown(fn () => bloom_dump('f', '../relative'));
    PHP);
var_dump(array_values(array_diff(scandir(scratch('.outside')), ['.', '..'])), is_link(scratch('.outside') . '/link in'));
var_dump(array_values(array_diff(scandir(scratch('.inside')), ['.', '..'])));
done();
?>
--EXPECTF--
bool(true)
bool(true)
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
bool(true)
bool(true)
bool(true)
BloomShm\Exception IO: open_basedir does not allow the file ../relative
array(2) {
  [0]=>
  string(7) "link in"
  [1]=>
  string(5) "sound"
}
bool(true)
array(5) {
  [0]=>
  string(4) "dump"
  [1]=>
  string(10) "folder out"
  [2]=>
  string(8) "link out"
  [3]=>
  string(8) "relative"
  [4]=>
  string(5) "sound"
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

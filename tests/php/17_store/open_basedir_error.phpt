--TEST--
open_basedir holds for dumps of the record store
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/open_basedir_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_cache_set('a', 1);
mkdir(scratch('.inside'));
mkdir(scratch('.outside'));
bloom_cache_dump(scratch('.outside') . '/sound');
symlink(scratch('.outside') . '/sound', scratch('.inside') . '/link out');
echo Child::run(<<<'PHP'
    [$in, $out] = [scratch('.inside'), scratch('.outside')];
    ini_set('open_basedir', $in);
    var_dump(bloom_cache_dump("$in/dump"), bloom_cache_delete('a'), bloom_cache_restore("$in/dump"));
    foreach (["$out/sound", "$out/new", "$in/../" . basename($out) . '/sound', "$in/link out"] as $path) {
        show_thrown(fn () => bloom_cache_dump($path), fn () => bloom_cache_restore($path));
    }
    PHP);
var_dump(array_values(array_diff(scandir(scratch('.outside')), ['.', '..'])), is_link(scratch('.inside') . '/link out'));
done();
?>
--EXPECTF--
int(1)
bool(true)
int(1)
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
BloomShm\Exception IO: open_basedir does not allow the file %s
array(1) {
  [0]=>
  string(5) "sound"
}
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

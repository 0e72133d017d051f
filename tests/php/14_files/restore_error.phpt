--TEST--
Files that are not whole, not ours or not there: nothing changes
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/restore_error.seg
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('k', 5000));
bloom_dump('f', scratch());
$file = file_get_contents(scratch());
$try = function (string $what, string $bytes) {
    file_put_contents(scratch('-bad'), $bytes);
    echo $what, ': ', str_replace(scratch('-bad'), 'FILE', thrown_by(fn () => bloom_restore('f', scratch('-bad')))), "\n";
};
$flip = fn (int $at) => substr_replace($file, chr(ord($file[$at]) ^ 1), $at, 1);
$try('empty', '');
$try('text', str_repeat("not a filter\n", 100));
$try('cut in the header', substr($file, 0, 100));
$try('cut in the bits', substr($file, 0, 4000));
$try('cut at the end', substr($file, 0, -1));
$try('longer', $file . 'x');
$try('seed changed', $flip(24));
$try('layer changed', $flip(200));
$try('bit changed', $flip(5000));
$try('checksum changed', $flip(strlen($file) - 3));
$try('other version', substr_replace($file, chr(9), 8, 1));
$try('other byte order', substr_replace($file, strrev(substr($file, 0, 8)), 0, 8));
echo str_replace(scratch(), 'FILE', thrown_by(fn () => bloom_restore('f', scratch('-none')))), "\n";
echo str_replace(__DIR__, 'DIR', thrown_by(fn () => bloom_restore('f', __DIR__))), "\n";
echo str_replace(__DIR__, 'DIR', thrown_by(fn () => bloom_dump('f', __DIR__ . '/no/file'))), "\n";
show_thrown(
    fn () => bloom_dump('missing', scratch('-new')),
    fn () => bloom_dump('f', ''),
    fn () => bloom_restore('f', "a\0b"),
    fn () => bloom_dump("", scratch()),
);
var_dump(file_exists(scratch('-new')), count_no('f', keys('k', 5000)), bloom_list(), bloom_verify());
done();
?>
--EXPECTF--
empty: BloomShm\Exception CORRUPT: the file FILE is damaged (truncated); nothing was changed
text: BloomShm\Exception CORRUPT: the file FILE was not made by bloom_dump()
cut in the header: BloomShm\Exception CORRUPT: the file FILE is damaged (truncated); nothing was changed
cut in the bits: BloomShm\Exception CORRUPT: the file FILE is damaged (truncated); nothing was changed
cut at the end: BloomShm\Exception CORRUPT: the file FILE is damaged (truncated); nothing was changed
longer: BloomShm\Exception CORRUPT: the file FILE is damaged (trailing bytes); nothing was changed
seed changed: BloomShm\Exception CORRUPT: the file FILE is damaged (header); nothing was changed
layer changed: BloomShm\Exception CORRUPT: the file FILE is damaged (layer); nothing was changed
bit changed: BloomShm\Exception CORRUPT: the file FILE is damaged (checksum); nothing was changed
checksum changed: BloomShm\Exception CORRUPT: the file FILE is damaged (checksum); nothing was changed
other version: BloomShm\Exception INCOMPATIBLE: the file FILE has the format version 9, and this build reads version 1
other byte order: BloomShm\Exception INCOMPATIBLE: the file FILE holds a filter in the other byte order
BloomShm\Exception IO: cannot open the file FILE-none: No such file or directory
BloomShm\Exception IO: DIR is not a regular file
BloomShm\Exception IO: cannot create the file DIR/no/file: No such file or directory
BloomShm\Exception NOT_FOUND: filter "missing" is not published in %s
ValueError: bloom_dump(): Argument #2 ($path) cannot be empty
ValueError: bloom_restore(): Argument #2 ($path) must not contain any null bytes
ValueError: bloom_dump(): Argument #1 ($filter) must be a filter name of 1 to 63 bytes without NUL bytes
bool(false)
int(0)
array(1) {
  [0]=>
  string(1) "f"
}
array(0) {
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

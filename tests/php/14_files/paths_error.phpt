--TEST--
Paths that cannot be: wrong arguments, folders, devices, FIFOs, what is missing or too long
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/paths_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a']);
posix_mkfifo(scratch('.fifo'), 0600);
// A device of this test's own, where it may have one: whatever goes wrong here must not cost the system's.
posix_mknod(scratch('.device'), POSIX_S_IFCHR | 0600, 1, 3) || posix_mkfifo(scratch('.device'), 0600);
$kind = filetype(scratch('.device'));
mkdir(scratch('.dir'));
file_put_contents(scratch('.file'), 'not a folder');
foreach (['bloom_dump', 'bloom_restore'] as $call) {
    show_thrown(
        fn () => $call('f', ''),
        fn () => $call('f', "a\0b"),
        fn () => $call('f', []),
        fn () => $call('f'),
        fn () => $call('', scratch()),
    );
    foreach ([scratch('.missing') . '/x', scratch('.dir'), scratch('.dir') . '/', scratch('.fifo'), scratch('.device'), scratch('.file') . '/x'] as $path) {
        $thrown = thrown_by(fn () => $call('f', $path));
        check(str_contains($thrown, $path), "the message says which file: $thrown");
        echo str_replace($path, 'PATH', $thrown), "\n";
    }
    foreach ([scratch('.dir/') . str_repeat('x', 256), str_repeat('x', 5000)] as $path) {
        echo str_replace($path, 'PATH', thrown_by(fn () => $call('f', $path))), "\n";
    }
}
show_thrown(fn () => bloom_dump('missing', scratch('.new')));
// The longest name that a file can have.
$longest = scratch('.dir/') . str_repeat('x', 255);
check(bloom_dump('f', $longest) > 8192 && bloom_restore('g', $longest), 'a name of 255 bytes');
unlink($longest);
clearstatcache();
var_dump(filetype(scratch('.device')) === $kind, filetype(scratch('.fifo')), file_get_contents(scratch('.file')), scandir(scratch('.dir')));
var_dump(file_exists(scratch('.new')), bloom_maybe_has_many('f', ['a', 'b']));
done();
?>
--EXPECTF--
ValueError: bloom_dump(): Argument #2 ($path) %s empty
ValueError: bloom_dump(): Argument #2 ($path) must not contain any null bytes
TypeError: bloom_dump(): Argument #2 ($path) must be of type string, array given
ArgumentCountError: bloom_dump() expects exactly 2 arguments, 1 given
ValueError: bloom_dump(): Argument #1 ($filter) must be %s
BloomShm\Exception IO: cannot create the file PATH: No such file or directory
BloomShm\Exception IO: PATH is not a regular file
BloomShm\Exception IO: PATH is not a regular file
BloomShm\Exception IO: PATH is not a regular file
BloomShm\Exception IO: PATH is not a regular file
BloomShm\Exception IO: cannot create the file PATH: Not a directory
BloomShm\Exception IO: cannot %s the file PATH: File name too long
BloomShm\Exception IO: cannot %s the file PATH: File name too long
ValueError: bloom_restore(): Argument #2 ($path) %s empty
ValueError: bloom_restore(): Argument #2 ($path) must not contain any null bytes
TypeError: bloom_restore(): Argument #2 ($path) must be of type string, array given
ArgumentCountError: bloom_restore() expects exactly 2 arguments, 1 given
ValueError: bloom_restore(): Argument #1 ($filter) must be %s
BloomShm\Exception IO: cannot open the file PATH: No such file or directory
BloomShm\Exception IO: PATH is not a regular file
BloomShm\Exception IO: PATH is not a regular file
BloomShm\Exception IO: PATH is not a regular file
BloomShm\Exception IO: PATH is not a regular file
BloomShm\Exception IO: cannot open the file PATH: Not a directory
BloomShm\Exception IO: cannot %s the file PATH: File name too long
BloomShm\Exception IO: cannot %s the file PATH: File name too long
BloomShm\Exception NOT_FOUND: filter "missing" %s
bool(true)
string(4) "fifo"
string(12) "not a folder"
array(2) {
  [0]=>
  string(1) "."
  [1]=>
  string(2) ".."
}
bool(false)
array(2) {
  [0]=>
  bool(true)
  [1]=>
  bool(false)
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

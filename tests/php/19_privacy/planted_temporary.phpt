--TEST--
A file that another user left at the path's temporary name, locked or not: UNAVAILABLE at once, and the reason
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/planted_temporary.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=1M
--SKIPIF--
<?php
if (posix_geteuid() !== 0) { die('skip needs root to act as several users'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$dir = make_shared_dir(__FILE__);
chmod($dir, 01777); // as /dev/shm: no user can remove another's file
$ini = ['bloomshm.path' => "$dir/x.seg"];
$code = <<<'PHP'
    $began = own_time();
    var_dump(bloom_maybe_has('f', 'a'), bloom_cache_get('a', 'default'), bloom_cache_set('a', 1), bloom_cache_remember('a', fn () => 'loaded'));
    show_thrown(fn () => bloom_load('f', ['a']));
    check(bloom_status()['available'] === false, 'not available');
    check(own_time() - $began < 1, 'it took ' . (own_time() - $began) . ' s');
    PHP;
foreach ([
    'a file' => 'touch("FILE"); chmod("FILE", 0666);',
    'a FIFO' => 'posix_mkfifo("FILE", 0666); chmod("FILE", 0666);',
    'a file that only he can open' => 'touch("FILE"); chmod("FILE", 0600);',
    'a link' => 'symlink("/etc/passwd", "FILE");',
    'a folder' => 'mkdir("FILE");',
] as $what => $plant) {
    echo "-- $what\n";
    echo Child::run_as(12001, 12001, str_replace('FILE', "$dir/x.seg.new", $plant));
    $before = lstat("$dir/x.seg.new");
    echo Child::run_as(12002, 12002, $code, $ini);
    clearstatcache();
    check_same([$before['ino'], $before['size']], [lstat("$dir/x.seg.new")['ino'], lstat("$dir/x.seg.new")['size']], 'it was left alone');
    check(!file_exists("$dir/x.seg"), 'nothing was made');
    remove("$dir/x.seg.new");
}
// When it is gone, all is well.
echo Child::run_as(12002, 12002, 'var_dump(bloom_load("f", ["a"])["keys"]);', $ini);
?>
--EXPECTF--
-- a file
bool(true)
string(7) "default"
bool(false)
string(6) "loaded"
BloomShm\Exception UNAVAILABLE: cannot create %s: a file %s.new of uid 12001 is in the way; %s
-- a FIFO
bool(true)
string(7) "default"
bool(false)
string(6) "loaded"
BloomShm\Exception UNAVAILABLE: cannot create %s: a file %s.new of uid 12001 is in the way; %s
-- a file that only he can open
bool(true)
string(7) "default"
bool(false)
string(6) "loaded"
BloomShm\Exception UNAVAILABLE: cannot create %s
-- a link
bool(true)
string(7) "default"
bool(false)
string(6) "loaded"
BloomShm\Exception UNAVAILABLE: cannot create %s
-- a folder
bool(true)
string(7) "default"
bool(false)
string(6) "loaded"
BloomShm\Exception UNAVAILABLE: cannot create %s
int(1)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

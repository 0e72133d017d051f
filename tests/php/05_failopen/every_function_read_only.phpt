--TEST--
Every function, with a segment that may only be read: of another user, or on a file system mounted for reading
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/every_function_read_only.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--SKIPIF--
<?php
if (ini_get('opcache.preload')) { die('skip a preload script has called before'); }
if (posix_geteuid() !== 0) { die('skip needs root to act as another user'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';
require __DIR__ . '/every_function.inc';

$dir = make_shared_dir(__FILE__);
$code = 'require ' . var_export(__DIR__ . '/every_function.inc', true) . '; show_every_call();';
$ini = ['bloomshm.path' => "$dir/x.seg", 'bloomshm.mode' => '0644'];
echo Child::run(EVERY_SETUP, $ini);
foreach (glob("$dir/x.tmp*") as $path) {
    chmod($path, 0644);
}
$sound = md5_file("$dir/x.seg");

$reader = $ini + ['bloomshm.readonly' => '1'];
compare_every_call('another user', expect_read_only(), Child::run_as(12002, 12002, $code, $reader));
compare_every_call('another user who would write', expect_unusable('UNAVAILABLE'), Child::run_as(12002, 12002, $code, $ini));

// A file system of this process's own. Where it cannot be had, that part is left out.
$mount = "mount --bind $dir $dir && mount -o remount,ro,bind $dir";
exec("unshare -m sh -c '$mount' 2>&1", $output, $failed);
if (!$failed) {
    // Dumps go to the folder, which may not be written: they fail, and nothing else does.
    $io = ['bloom_dump' => 'IO', 'bloom_cache_dump' => 'IO'];
    $on_mount = fn (array $ini): string => Child::run('', [], '', 'unshare -m sh -c ' . escapeshellarg("$mount && " . Child::command($code, $ini)));
    compare_every_call('a read-only mount', $io + expect_read_only(), $on_mount($reader));
    compare_every_call('a read-only mount, to be written', expect_unusable('UNAVAILABLE'), $on_mount($ini));
}
check(md5_file("$dir/x.seg") === $sound, 'nothing was written');

// One's own, where only the record store may be changed.
$output = Child::run($code, ['bloomshm.path' => "$dir/x.seg", 'bloomshm.mode' => '0644', 'bloomshm.readonly' => '1']);
check(str_ends_with($output, "end\n"), 'filters mapped for reading: comes to the end');

// Where there is no record store, the filters work.
$ini = ['bloomshm.path' => scratch('.none'), 'bloomshm.cache_memory' => '0'];
$output = Child::run('bloom_load("f", ["a"]);' . $code, $ini);
check(str_ends_with($output, "end\n"), 'no record store: comes to the end');
foreach (explode("\n", $output) as $line) {
    [$name, $outcome] = explode(': ', $line, 2) + [1 => ''];
    if (str_starts_with($name, 'bloom_cache_')) {
        check_same(expect_unusable('')[$name], $outcome, "no record store: $name");
    }
}
echo "done\n";
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

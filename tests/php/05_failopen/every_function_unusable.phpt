--TEST--
Every function, with a segment of each sort that cannot be used
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/every_function_unusable.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';
require __DIR__ . '/every_function.inc';

echo Child::run(EVERY_SETUP);
$sound = file_get_contents(segment());
$with = function (int $offset, string $bytes) use ($sound): Closure {
    return function (string $path) use ($sound, $offset, $bytes): void {
        file_put_contents($path, substr_replace($sound, $bytes, $offset, strlen($bytes)));
        chmod($path, 0600);
    };
};
$file = function (string $bytes): Closure {
    return function (string $path) use ($bytes): void {
        file_put_contents($path, $bytes);
        chmod($path, 0600);
    };
};
// What is at the path; the code of what would create a filter; settings.
$sorts = [
    'disabled' => [$file($sound), 'UNAVAILABLE', ['bloomshm.enable' => '0']],
    'empty' => [$file(''), 'CORRUPT'],
    'truncated' => [$file(substr($sound, 0, 100000)), 'CORRUPT'],
    'text' => [$file(str_repeat('not a segment ', 1000)), 'CORRUPT'],
    'magic' => [$with(0, 'BADMAGIC'), 'CORRUPT'],
    'layout' => [$with(8, 'LAYOUT!!'), 'INCOMPATIBLE'],
    'header' => [$with(24, "\xff\xff\xff\xff\xff\xff"), 'CORRUPT'],
    'directory' => [fn ($path) => mkdir($path), 'UNAVAILABLE'],
    'fifo' => [fn ($path) => posix_mkfifo($path, 0600), 'UNAVAILABLE'],
    'symlink' => [fn ($path) => symlink(segment(), $path), 'UNAVAILABLE'],
    'no directory' => [fn ($path) => null, 'UNAVAILABLE', ['bloomshm.path' => scratch('.none') . '/deeper/x.seg']],
    'too wide a mode' => [fn ($path) => $file($sound)($path) ?? chmod($path, 0666), 'UNAVAILABLE'],
    'readonly and no file' => [fn ($path) => null, null, ['bloomshm.readonly' => '1']],
];
if (posix_geteuid() === 0) {
    $sorts['foreign'] = [fn ($path) => $file($sound)($path) ?? chown($path, 12001), 'UNAVAILABLE'];
}
$code = 'require ' . var_export(__DIR__ . '/every_function.inc', true) . '; show_every_call();';
foreach ($sorts as $sort => $row) {
    [$make, $error, $ini] = $row + [2 => []];
    $path = scratch('.' . strtr($sort, ' ', '_'));
    $make($path);
    $expected = expect_unusable($error ?? 'UNAVAILABLE');
    if ($error === null) {
        $read_only = array_filter(expect_read_only(), fn ($outcome) => $outcome === 'READ_ONLY');
        // There is surely no record to increment.
        $expected = ['bloom_dump' => 'NOT_FOUND', 'bloom_cache_increment present' => 'false']
            + $read_only + $expected;
    }
    compare_every_call($sort, $expected, Child::run($code, $ini + ['bloomshm.path' => $path]));
}
// Nothing of it was changed, nor was the sound one that the link led to.
check(file_get_contents(segment()) === $sound, 'the sound segment is as it was');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

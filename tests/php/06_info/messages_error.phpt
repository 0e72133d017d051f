--TEST--
Each message says what was asked for, what there is, and what to do
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/messages_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 100);
show_thrown(
    fn () => bloom_reserve('f', 200, 0.5),
    fn () => bloom_reserve('f', 100, 0.02),
    fn () => bloom_reserve('f', 100, 0.01, 4),
    fn () => bloom_reserve('f', 100, window: 5),
    fn () => bloom_reserve('f', 100, counting: true),
    fn () => bloom_reserve('f', 100, seed: 'x'),
);

bloom_cache_set("a\x01" . str_repeat('b', 100), 'text');
bloom_cache_set('n', PHP_INT_MAX - 1);
bloom_cache_set('list', [1]);
show_thrown(
    fn () => bloom_cache_increment("a\x01" . str_repeat('b', 100)),
    fn () => bloom_cache_increment('n', 5),
    fn () => bloom_cache_append('n', 'x'),
    fn () => bloom_cache_append('list', 'x'),
    fn () => bloom_cache_set('n', 1, -5),
    fn () => bloom_cache_set(str_repeat('a', 70000), 1),
);

// A file of another sort is told what it is, however short it is.
bloom_dump('f', scratch('.filter'));
bloom_cache_dump(scratch('.records'));
file_put_contents(scratch('.gz'), gzencode('x'));
foreach (['.records', '.gz', '.filter'] as $suffix) {
    copy(scratch($suffix), scratch());
    echo str_replace(scratch(), 'FILE', thrown_by(
        fn () => $suffix === '.filter' ? bloom_cache_restore(scratch()) : bloom_restore('f', scratch())
    )), "\n";
}
bloom_cache_clear();
bloom_cache_dump(scratch());
echo str_replace(scratch(), 'FILE', thrown_by(fn () => bloom_restore('f', scratch()))), "\n";
copy(segment(), scratch());
echo str_replace(scratch(), 'FILE', thrown_by(fn () => bloom_cache_restore(scratch()))), "\n";

// What a URL's wrapper says, not what an earlier call left in errno; the filter stays.
show_thrown(fn () => bloom_load_file('f', 'http://127.0.0.1:1/'));
var_dump(bloom_ready('f'));

// Files at the path.
$why = fn (string $path): string => str_replace(
    $path,
    'PATH',
    Child::run('echo bloom_status()["reason"], "\n";', ['bloomshm.path' => $path])
);
file_put_contents(scratch('.empty'), '');
chmod(scratch('.empty'), 0600);
echo $why(scratch('.empty'));
symlink(scratch('.empty'), scratch('.link'));
echo $why(scratch('.link'));
done();
?>
--EXPECTF--
BloomShm\Exception EXISTS: filter "f" exists already, with capacity: 100; asked for: 200
BloomShm\Exception EXISTS: filter "f" exists already, with error_rate: 0.01; asked for: 0.02
BloomShm\Exception EXISTS: filter "f" exists already, with expansion: 2; asked for: 4
BloomShm\Exception EXISTS: filter "f" exists already, with window: 0; asked for: 5
BloomShm\Exception EXISTS: filter "f" exists already, with counting: false; asked for: true
BloomShm\Exception EXISTS: filter "f" exists already, with another seed
BloomShm\Exception INCOMPATIBLE: the record "a\x01bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb..." holds a string, and an int is needed; it was not changed
BloomShm\Exception RANGE: 9223372036854775806 plus 5 is outside the range of an int; the record "n" was not changed
BloomShm\Exception INCOMPATIBLE: the record "n" holds an int, and a string is needed; it was not changed
BloomShm\Exception INCOMPATIBLE: the record "list" holds a serialized array or object, and a string is needed; it was not changed
ValueError: bloom_cache_set(): Argument #3 ($ttl) must be 0 (no limit) or between 1 and 315360000 seconds, -5 given
ValueError: bloom_cache_set(): Argument #1 ($key) must be at most 65535 bytes long, 70000 given
BloomShm\Exception CORRUPT: the file FILE was not made by bloom_dump(); it holds records, for bloom_cache_restore()
BloomShm\Exception CORRUPT: the file FILE was not made by bloom_dump(); it is compressed by gzip
BloomShm\Exception CORRUPT: the file FILE was not made by bloom_cache_dump(); it holds a filter, for bloom_restore()
BloomShm\Exception CORRUPT: the file FILE was not made by bloom_dump(); it holds records, for bloom_cache_restore()
BloomShm\Exception CORRUPT: the file FILE was not made by bloom_cache_dump(); it is a segment, for bloomshm.path
BloomShm\Exception IO: %sConnection refused
bool(true)
PATH is not a bloomshm segment: it is 0 bytes long, and the header of a segment is 4096
PATH is a symbolic link, and links are not followed; set bloomshm.path to the file itself
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

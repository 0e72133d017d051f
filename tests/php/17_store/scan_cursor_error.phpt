--TEST--
bloom_cache_scan(): a cursor that is no int is a TypeError that names it
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/scan_cursor_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_cache_set('a', 1);
foreach ([[], [1], new stdClass(), 'text', STDIN] as $cursor) {
    echo thrown_by(function () use ($cursor) {
        return bloom_cache_scan($cursor);
    }), "\n";
}
echo thrown_by(fn () => bloom_cache_scan()), "\n";
done();
?>
--EXPECTF--
TypeError: bloom_cache_scan(): Argument #1 ($cursor) must be of type int, %s given
TypeError: bloom_cache_scan(): Argument #1 ($cursor) must be of type int, %s given
TypeError: bloom_cache_scan(): Argument #1 ($cursor) must be of type int, %s given
TypeError: bloom_cache_scan(): Argument #1 ($cursor) must be of type int, %s given
TypeError: bloom_cache_scan(): Argument #1 ($cursor) must be of type int, %s given
ArgumentCountError: bloom_cache_scan() expects at least 1 argument, 0 given
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

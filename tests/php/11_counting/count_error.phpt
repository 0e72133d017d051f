--TEST--
bloom_count() and bloom_remove() on what does not count, or is not there
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/count_error.seg
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('fixed', 10, expansion: 0);
bloom_reserve('grows', 10);
bloom_reserve('slides', 10, window: 60);
show_thrown(
    fn () => bloom_count('fixed', 'a'),
    fn () => bloom_remove('grows', 'a'),
    fn () => bloom_count('slides', 'a'),
    fn () => bloom_count('missing', 'a'),
    fn () => bloom_remove('missing', 'a'),
    fn () => bloom_count('', 'a'),
);
done();
?>
--EXPECTF--
BloomShm\Exception INCOMPATIBLE: filter "fixed" does not count; reserve or load it with counting: true
BloomShm\Exception INCOMPATIBLE: filter "grows" does not count; reserve or load it with counting: true
BloomShm\Exception INCOMPATIBLE: filter "slides" does not count; reserve or load it with counting: true
BloomShm\Exception NOT_FOUND: filter "missing" is not published in %s
BloomShm\Exception NOT_FOUND: filter "missing" is not published in %s
ValueError: bloom_count(): Argument #1 ($filter) must be a filter name of 1 to 63 bytes without NUL bytes
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_cache_append() to what is no string: INCOMPATIBLE; past the size limit: NO_SPACE; the record stays
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/append_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ([null, false, true, 0, 1.5, ['x'], (object) []] as $value) {
    bloom_cache_set('v', $value);
    $thrown = thrown_by(fn () => bloom_cache_append('v', 'x'));
    check(str_starts_with($thrown, 'BloomShm\Exception INCOMPATIBLE: '), json_encode($value) . ": $thrown");
    check(serialize($value) === serialize(bloom_cache_get('v', 'default')), json_encode($value) . ' stays');
}
// The store is 4M: key and value together may be 1M.
bloom_cache_set('long', str_repeat('x', 600000));
show_thrown(
    fn () => bloom_cache_append('long', str_repeat('y', 500000)),
    fn () => bloom_cache_append('long', '', str_repeat('y', 500000)),
    fn () => bloom_cache_append('new', str_repeat('y', 1 << 20)),
);
var_dump(bloom_cache_get('long') === str_repeat('x', 600000), bloom_cache_has('new'), bloom_cache_append('long', 'y', '-'));
done();
?>
--EXPECTF--
BloomShm\Exception NO_SPACE: %s
BloomShm\Exception NO_SPACE: %s
BloomShm\Exception NO_SPACE: %s
bool(true)
bool(false)
int(600002)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

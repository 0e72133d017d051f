--TEST--
bloom_cache_increment(): INCOMPATIBLE for what is no int, RANGE at the edges; the record stays as it was
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/increment_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ([null, false, true, 1.0, '5', '', [1], (object) []] as $value) {
    bloom_cache_set('v', $value);
    foreach (['bloom_cache_increment', 'bloom_cache_decrement'] as $function) {
        foreach ([0, 1] as $by) {
            $thrown = thrown_by(fn () => $function('v', $by));
            check(str_starts_with($thrown, 'BloomShm\Exception INCOMPATIBLE: '), "$function by $by of " . json_encode($value) . ": $thrown");
        }
    }
    check(serialize($value) === serialize(bloom_cache_get('v', 'default')), json_encode($value) . ' stays');
}
bloom_cache_set('max', PHP_INT_MAX);
bloom_cache_set('min', PHP_INT_MIN);
bloom_cache_set('minus', -1);
show_thrown(
    fn () => bloom_cache_increment('max'),
    fn () => bloom_cache_increment('max', PHP_INT_MAX),
    fn () => bloom_cache_decrement('max', -1),
    fn () => bloom_cache_decrement('min'),
    fn () => bloom_cache_increment('min', -1),
    fn () => bloom_cache_increment('min', PHP_INT_MIN),
    fn () => bloom_cache_increment('new', 1, PHP_INT_MAX),
    fn () => bloom_cache_decrement('new', 1, PHP_INT_MIN),
    fn () => bloom_cache_increment('new', PHP_INT_MIN, -1),
    fn () => bloom_cache_decrement('new', PHP_INT_MIN, 0),
    fn () => bloom_cache_decrement('max', PHP_INT_MIN),
);
var_dump(bloom_cache_get('max') === PHP_INT_MAX, bloom_cache_get('min') === PHP_INT_MIN, bloom_cache_has('new'));
done();
?>
--EXPECTF--
BloomShm\Exception RANGE: %s
BloomShm\Exception RANGE: %s
BloomShm\Exception RANGE: %s
BloomShm\Exception RANGE: %s
BloomShm\Exception RANGE: %s
BloomShm\Exception RANGE: %s
BloomShm\Exception RANGE: %s
BloomShm\Exception RANGE: %s
BloomShm\Exception RANGE: %s
BloomShm\Exception RANGE: 0 minus -9223372036854775808 is outside the range of an int; the record "new" was not changed
BloomShm\Exception RANGE: %s
bool(true)
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

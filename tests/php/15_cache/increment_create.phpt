--TEST--
bloom_cache_increment() and bloom_cache_decrement(): create: false changes only a record that exists
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/increment_create.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// Without a segment there is no record, and none is created.
var_dump(bloom_cache_increment('a', create: false), bloom_cache_decrement('a', 1, 5, 60, false), file_exists(segment()));

bloom_cache_set('there', 5);
foreach (['bloom_cache_increment' => 1, 'bloom_cache_decrement' => -1] as $function => $sign) {
    check_same(false, $function('a', create: false), "$function() of an absent key");
    check_same(false, $function('a', 7, 100, 60, false), "$function() with an initial value");
    check_same(false, bloom_cache_has('a'), 'no record was created');
    check_same(5 + 3 * $sign, $function('there', 3, 100, create: false), "$function() of an existing record");
    bloom_cache_set('there', 5);
    check_same($sign * 2, $function('created', 2, create: true), 'create: true is the default');
    bloom_cache_delete('created');
    // 0 is a value, and false is none.
    bloom_cache_set('zero', -$sign);
    check_same(0, $function('zero', create: false), 'to 0');
    // A record of another type is there, so it is refused, and not absent.
    bloom_cache_set('text', '5');
    check(str_starts_with(thrown_by(fn () => $function('text', create: false)), 'BloomShm\Exception INCOMPATIBLE: '), 'a string');
    bloom_cache_set('edge', $sign === 1 ? PHP_INT_MAX : PHP_INT_MIN);
    check(str_starts_with(thrown_by(fn () => $function('edge', create: false)), 'BloomShm\Exception RANGE: '), 'the edge');
}
// A counter that another process removes: a count for it is never the first one again.
bloom_cache_set('counter', 0);
$child = new Child(<<<'PHP'
    for ($counted = 0; bloom_cache_increment('counter', create: false) !== false;) {
        if (++$counted === 100) {
            echo "counting\n";
        }
    }
    PHP);
check_same('counting', $child->hear(), 'the child');
check_same(true, bloom_cache_delete('counter'), 'deleted');
$child->end();
var_dump(bloom_cache_has('counter'));
done();
?>
--EXPECT--
bool(false)
bool(false)
bool(false)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_cache_cas() compares type and bytes; an expected null means absent
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/cas.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$values = [
    true, false, 0, 1, -1, PHP_INT_MIN, 0.0, -0.0, 1.0, NAN, INF, '', '0', '1', 'text', "text\0", 'Text', [], [1], ['1'], [1.0],
    [[]], ['a' => 1, 'b' => 2], ['b' => 2, 'a' => 1], (object) ['a' => 1], (object) [], 'a:0:{}', 'N;', str_repeat('x', 100000),
];
foreach ($values as $i => $value) {
    foreach ($values as $j => $expected) {
        bloom_cache_set('k', $value);
        $swapped = bloom_cache_cas('k', $expected, 'new');
        check_same($i === $j, $swapped, "value $i, expected $j");
        check(serialize($swapped ? 'new' : $value) === serialize(bloom_cache_get('k')), "what is there then: value $i, expected $j");
    }
    // A stored value is not absent.
    bloom_cache_set('k', $value);
    check_same(false, bloom_cache_cas('k', null, 'new'), "value $i, expected absent");
    bloom_cache_delete('k');
    check_same(false, bloom_cache_cas('k', $value, 'new'), "absent, expected $i");
    check_same(false, bloom_cache_has('k'), 'still absent');
}
// NaN is one value, whatever its bits are.
bloom_cache_set('k', unpack('E', hex2bin('7ff8000000000001'))[1]);
var_dump(bloom_cache_cas('k', -NAN, NAN), bloom_cache_cas('k', sqrt(-1), 1));

// A stored null is neither absent nor equal to the null that means absent.
bloom_cache_set('null', null);
var_dump(bloom_cache_cas('null', null, 'new'), bloom_cache_cas('null', false, 'new'), bloom_cache_cas('null', '', 'new'));
var_dump(bloom_cache_get('null', 'default'));

var_dump(bloom_cache_cas('absent', null, 'first'), bloom_cache_get('absent'), bloom_cache_cas('absent', null, 'second'));
var_dump(bloom_cache_cas('absent', 'first', null), bloom_cache_get('absent', 'default'));
done();
?>
--EXPECT--
bool(true)
bool(true)
bool(false)
bool(false)
bool(false)
NULL
bool(true)
string(5) "first"
bool(false)
bool(true)
NULL
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

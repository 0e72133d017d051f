--TEST--
bloom_fetch() inside a loader: the same key just loads, other keys and filters are kept
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_nested.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a', 'b']);
bloom_load('g', ['a']);
$at = own_time();
var_dump(bloom_fetch('f', 'a', function () {
    return [
        bloom_fetch('f', 'a', fn () => 'inner'),
        bloom_fetch('f', 'a', fn () => null),
        bloom_fetch('f', 'b', fn () => 'b'),
        bloom_fetch('g', 'a', fn () => 'g'),
        bloom_cache_remember('a', fn () => 'cache'),
    ];
}) === ['inner', null, 'b', 'g', 'cache']);
var_dump(count(bloom_fetch('f', 'a', fn () => [])), bloom_fetch('f', 'b', fn () => 0), bloom_fetch('g', 'a', fn () => 0));
check(own_time() - $at < 1, 'no call waited');
// A null of the outer one does not hide what the inner one found.
bloom_forget('f', 'a');
var_dump(bloom_fetch('f', 'a', function () {
    bloom_add('f', 'a');
    bloom_fetch('f', 'a', fn () => 'found');
    return null;
}));
var_dump(bloom_fetch('f', 'a', fn () => 'found again') !== null);
done();
?>
--EXPECT--
bool(true)
int(5)
string(1) "b"
string(1) "g"
NULL
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

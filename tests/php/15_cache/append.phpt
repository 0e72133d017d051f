--TEST--
bloom_cache_append() creates the string or makes it longer; the delimiter stands only between
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/append.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_cache_append('a', 'one'), bloom_cache_append('a', 'two'), bloom_cache_get('a'));
var_dump(bloom_cache_append('b', 'one', ', '), bloom_cache_append('b', 'two', ', '), bloom_cache_append('b', '', ', '), bloom_cache_get('b'));
var_dump(bloom_cache_append('c', ''), bloom_cache_get('c', 'default'), bloom_cache_append('c', '', ''), bloom_cache_append('c', "\0x", "\0"));
echo bin2hex(bloom_cache_get('c')), "\n";
$expected = '';
for ($i = 0; $i < 3000; $i++) {
    $part = str_repeat(chr($i % 256), $i % 50);
    $expected .= ($i === 0 ? '' : '|') . $part;
    check_same(strlen($expected), bloom_cache_append('long', $part, '|'), "length after $i");
}
check(bloom_cache_get('long') === $expected, 'a long one, bit by bit');
var_dump(bloom_cache_info()['records']);
done();
?>
--EXPECT--
int(3)
int(6)
string(6) "onetwo"
int(3)
int(8)
int(10)
string(10) "one, two, "
int(0)
string(0) ""
int(0)
int(3)
000078
int(4)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

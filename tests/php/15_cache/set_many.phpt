--TEST--
bloom_cache_set_many() stores each value under its array key
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/set_many.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$values = ['a' => 1, 'b' => null, 0 => 'zero', 7 => [7], '' => 'empty', "n\0l" => 1.5, 'c' => false, -3 => (object) ['x' => 1]];
var_dump(bloom_cache_set_many($values), bloom_cache_set_many([]), bloom_cache_info()['records']);
foreach ($values as $key => $value) {
    check(serialize($value) === serialize(bloom_cache_get((string) $key, 'default')), "the value of $key");
}
// They replace what is there, of whatever type.
var_dump(bloom_cache_set_many(['a' => 'text', 'b' => [1], 'd' => 4]), bloom_cache_info()['records']);
echo json_encode(bloom_cache_get_many(['a', 'b', 'd'])), "\n";
// A list is stored under its numbers; a reference as its value.
$value = 'first';
var_dump(bloom_cache_set_many([&$value, 'second']));
$value = 'changed';
echo json_encode(bloom_cache_get_many([0, 1])), "\n";
done();
?>
--EXPECT--
int(8)
int(0)
int(8)
int(3)
int(9)
{"a":"text","b":[1],"d":4}
int(2)
["first","second"]
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_cache_pop_oldest() gives the key as a string and the value with its type
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/pop_oldest_types.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$values = ['123' => 'number', '' => null, "\0" => 1.0, 'list' => [1, [2]], 'object' => new ArrayObject([1]), 'false' => false];
foreach ($values as $key => $value) {
    bloom_cache_set((string) $key, $value);
}
foreach ($values as $key => $value) {
    $pair = bloom_cache_pop_oldest();
    check(serialize([(string) $key, $value]) === serialize($pair), 'got ' . serialize($pair));
}
// Records of bloom_fetch() are not handed out.
bloom_load('f', ['a']);
bloom_fetch('f', 'a', fn () => 'fetched');
var_dump(bloom_cache_pop_oldest());
bloom_cache_set('b', 1);
echo json_encode([bloom_cache_pop_oldest(), bloom_cache_pop_oldest()]), "\n";
var_dump(bloom_fetch('f', 'a', fn () => 'again'));
done();
?>
--EXPECT--
NULL
[["b",1],null]
string(7) "fetched"
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

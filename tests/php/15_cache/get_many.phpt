--TEST--
bloom_cache_get_many(): every key is in the answer, under its own name
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/get_many.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_cache_set_many(['a' => 1, 'b' => null, 5 => 'five', '05' => 'text', '' => 'empty', "\0" => [1], '-7' => 'minus']);
$keys = ['absent', 'a', 'b', 5, '05', '', "\0", -7, 'other'];
$expected = [
    'absent' => 'default', 'a' => 1, 'b' => null, 5 => 'five', '05' => 'text', '' => 'empty', "\0" => [1],
    -7 => 'minus', 'other' => 'default',
];
check_same($expected, bloom_cache_get_many($keys, 'default'), 'answers');
check_same(['x' => null, 'a' => 1], bloom_cache_get_many(['x', 'a']), 'no default');
check_same([], bloom_cache_get_many([]), 'no keys');
// The array's own keys do not matter.
check_same(['a' => 1, 'b' => null], bloom_cache_get_many(['first' => 'a', 'second' => 'b'], 0), 'a keyed array');
// A key twice is one answer.
check_same(['a' => 1, 'x' => 0, 5 => 'five'], bloom_cache_get_many(['a', 'x', 'a', 5, '5', 'x', 5.0], 0), 'repeated keys');
// What is no string is one as (string) makes it.
$key = new class implements Stringable {
    public function __toString(): string
    {
        return 'a';
    }
};
check_same(['a' => 1, '1.5' => 0], bloom_cache_get_many([$key, 1.5], 0), 'Stringable and float');
$reference = 'a';
check_same(['a' => 1], bloom_cache_get_many([&$reference], 0), 'a reference');
// More than fit in one batch.
$values = [];
for ($i = 0; $i < 1000; $i++) {
    $values["key $i"] = $i % 3 === 0 ? [$i] : $i;
}
check_same(1000, bloom_cache_set_many($values), 'stored');
check_same($values, bloom_cache_get_many(array_keys($values)), 'a thousand');
check_same(array_fill_keys(keys('absent ', 1000), 0), bloom_cache_get_many(keys('absent ', 1000), 0), 'a thousand that are absent');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

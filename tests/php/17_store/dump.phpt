--TEST--
bloom_cache_dump() and bloom_cache_restore(): types and the order of use survive into another segment
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/dump.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$values = [
    'null' => null, 'false' => false, 'true' => true, 'int' => PHP_INT_MIN, 'float' => -0.0, 'nan' => NAN, '' => '', "nul\0" => "\0",
    '123' => '0', 'list' => [1, [2]], 'object' => new ArrayObject([1]), 'long' => random_bytes(200000), str_repeat('k', 65535) => 'x',
];
foreach ($values as $key => $value) {
    bloom_cache_set((string) $key, $value);
}
for ($i = 0; $i < 100; $i++) {
    bloom_cache_set("key $i", $i);
}
$order = [];
mt_srand($seed = 3);
for ($i = 0; $i < 100; $i++) {
    $key = 'key ' . mt_rand(0, 99);
    bloom_cache_get($key);
    $order = [...array_diff($order, [$key]), $key];
}
$info = bloom_cache_info();
check_same(113, bloom_cache_dump(scratch()), 'dumped');
clearstatcache();
if (PHP_OS_FAMILY !== 'Windows') { // there fileperms() does not know who may read
    check_same(0600, fileperms(scratch()) & 0777, 'mode');
}
check_same([], glob(scratch() . '.*'), 'files left');
check_same($info, bloom_cache_info(), 'a dump changes nothing');
file_put_contents(scratch('.expected'), serialize([$values, $order]));
echo Child::run('$dump = ' . var_export(scratch(), true) . ';' . <<<'PHP'
    var_dump(bloom_cache_info()['records'], bloom_cache_restore($dump));
    [$values, $order] = unserialize(file_get_contents("$dump.expected"));
    check_same(113, bloom_cache_info()['records'], 'records');
    $popped = [];
    while (($pair = bloom_cache_pop_oldest()) !== null) {
        [$key, $value] = $pair;
        if (array_key_exists($key, $values)) {
            check(serialize($values[$key]) === serialize($value), "the value of $key");
        } else {
            check_same("key $value", $key, 'a value');
        }
        $popped[] = $key;
    }
    check_same(113, count($popped), 'popped');
    check_same($order, array_slice($popped, -count($order)), 'the order of what was used');
    // What was used never since it was written comes before, in its order.
    $rest = array_map(strval(...), [...array_keys($values), ...array_diff(keys('key ', 100), $order)]);
    check_same(array_map(bin2hex(...), $rest), array_map(bin2hex(...), array_slice($popped, 0, -count($order))), 'the order of the others');
    check_same([], bloom_verify(), 'sound');
    PHP, ['bloomshm.path' => scratch('.other.seg')]);
done();
?>
--EXPECT--
int(0)
int(113)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_fetch(): the record first, then the filter, then the loader
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a', 'b', 'c', '']);
$calls = [];
$load = function (...$arguments) use (&$calls) {
    $calls[] = $arguments;
    return ['value of', $arguments[0]];
};
// Loaded once, with the key.
check_same(['value of', 'a'], bloom_fetch('f', 'a', $load), 'loaded');
check_same(['value of', 'a'], bloom_fetch('f', 'a', $load), 'kept');
check_same([['a']], $calls, 'the arguments of the only call');
check_same(['value of', ''], bloom_fetch('f', '', $load), 'the empty key');
// The filter says no: no loader runs, and nothing is stored.
$absent = array_values(array_filter(keys('absent ', 100), fn (string $key) => !bloom_maybe_has('f', $key)));
check(count($absent) > 50, 'keys that the filter denies');
foreach ($absent as $key) {
    check_same(null, bloom_fetch('f', $key, $load), $key);
}
check_same(2, count($calls), 'calls');
check_same(2, bloom_cache_info()['records'], 'records');
// Values other than null are kept with their type, false among them.
foreach ([false, 0, '', 0.0, [], 'text', NAN, (object) ['x' => 1]] as $i => $value) {
    bloom_insert('f', ["value $i"]);
    $count = 0;
    for ($j = 0; $j < 3; $j++) {
        $got = bloom_fetch('f', "value $i", function () use ($value, &$count) {
            $count++;
            return $value;
        });
        check(serialize($value) === serialize($got), "value $i");
    }
    check_same(1, $count, "calls for value $i");
}
// What was loaded once is returned, even if a new set does not know it.
bloom_load('f', ['other']);
check_same(['value of', 'a'], bloom_fetch('f', 'a', $load), 'the record comes first');
bloom_drop('f');
check_same(['value of', 'a'], bloom_fetch('f', 'a', $load), 'without a filter, too');
check_same(2, count($calls), 'calls');
check_same(0, bloom_status()['missing_answers'], 'the filter was not needed');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
Filters of two kinds have no union, and neither is touched
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/merge_kinds_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$make = [
    'fixed' => fn () => bloom_reserve('fixed', 10000, expansion: 0, seed: 'shared'),
    'scalable' => fn () => bloom_reserve('scalable', 10000, seed: 'shared'),
    'sliding' => fn () => bloom_reserve('sliding', 10000, window: 60, seed: 'shared'),
    'counting' => fn () => bloom_reserve('counting', 10000, counting: true, seed: 'shared'),
];
foreach ($make as $name => $reserve) {
    $reserve();
    bloom_add_many($name, keys('k', 100));
}
$before = array_map(bloom_info(...), array_keys($make));
$free = free_bytes();
foreach (array_keys($make) as $into) {
    foreach (array_diff(array_keys($make), [$into]) as $from) {
        $thrown = thrown_by(fn () => bloom_merge($into, $from));
        check(preg_match("/^BloomShm.Exception INCOMPATIBLE: filter \"($into|$from)\" .* kind/", $thrown) === 1, $thrown);
        $thrown = thrown_by(fn () => bloom_merge('new', $into, $from));
        check(preg_match("/^BloomShm.Exception INCOMPATIBLE: filter \"($into|$from)\" .* kind/", $thrown) === 1, $thrown);
    }
}
check_same($before, array_map(bloom_info(...), array_keys($make)), 'bloom_info()');
check_same($free, free_bytes(), 'free bytes');
var_dump(bloom_ready('new'));
done();
?>
--EXPECT--
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

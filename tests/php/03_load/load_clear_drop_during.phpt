--TEST--
The name is cleared, dropped, renamed or copied while its load runs: the load is published whole
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_clear_drop_during.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$acts = [
    'clear' => fn () => bloom_clear('f'),
    'drop' => fn () => bloom_drop('f'),
    'drop and reserve' => fn () => bloom_drop('f') && bloom_reserve('f', 10, expansion: 0),
    'rename away' => fn () => bloom_rename('f', 'g'),
    'rename onto' => fn () => bloom_rename('h', 'f'),
    'copy onto' => fn () => bloom_copy('h', 'f'),
];
foreach ($acts as $name => $act) {
    bloom_load('f', ['old']);
    bloom_load('h', ['other']);
    bloom_load('f', (function () use ($act) {
        yield from keys('k', 100);
        $act();
        yield 'last';
    })());
    check_same(0, count_no('f', [...keys('k', 100), 'last']), "$name: denied");
    check_same([false, false], bloom_maybe_has_many('f', ['old', 'absent']), "$name: old and absent");
    array_map(bloom_drop(...), bloom_list());
}
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

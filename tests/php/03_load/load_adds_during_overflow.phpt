--TEST--
However many keys are added during a load: they are kept, or the load fails and the live filter stays
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_adds_during_overflow.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ([1000, 4000, 5000, 20000, 100000] as $count) {
    bloom_load('f', ['old'], 0.01);
    $free = free_bytes() + bloom_info('f')['bytes'];
    try {
        bloom_load('f', (function () use ($count) {
            yield 'new';
            bloom_add_many('f', keys('added ', $count));
        })());
        check(bloom_maybe_has('f', 'new'), "$count: published");
    } catch (BloomShm\Exception $e) {
        check_same('NO_SPACE', code_name($e->getCode()), 'the code');
        check(str_contains($e->getMessage(), 'bloomshm.filter_memory'), $e->getMessage());
        check(bloom_maybe_has('f', 'old'), "$count: the live filter stays");
    }
    check_same(0, count_no('f', keys('added ', $count)), "$count: denied");
    check_same($free, free_bytes() + bloom_info('f')['bytes'], "$count: free bytes");
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

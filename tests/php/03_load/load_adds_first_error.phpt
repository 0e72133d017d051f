--TEST--
bloomshm.missing_filter=throw: an add beside a first load throws NOT_FOUND, and is in the published filter
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_adds_first_error.seg
bloomshm.filter_memory=1M
bloomshm.missing_filter=throw
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', (function () {
    yield 'first';
    show_thrown(
        fn () => bloom_maybe_has('f', 'one'),
        fn () => bloom_add('f', 'one'),
        fn () => bloom_add_many('f', ['two', 'three']),
        fn () => bloom_insert('f', ['four'], create: false),
    );
})());
check_same(0, count_no('f', ['first', 'one', 'two', 'three', 'four']), 'denied');

// A load that fails leaves nothing that an add could have promised.
try {
    bloom_load('g', (function () {
        yield 'first';
        show_thrown(fn () => bloom_add('g', 'one'));
        throw new RuntimeException('the query failed');
    })());
} catch (RuntimeException $e) {
    echo $e->getMessage(), "\n";
}
var_dump(bloom_reserve('g', 100), bloom_maybe_has('g', 'one'));
done();
?>
--EXPECTF--
BloomShm\Exception NOT_FOUND: %s"f"%s
BloomShm\Exception NOT_FOUND: %s"f"%s
BloomShm\Exception NOT_FOUND: %s"f"%s
BloomShm\Exception NOT_FOUND: %s"f"%s
BloomShm\Exception NOT_FOUND: %s"g"%s
the query failed
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

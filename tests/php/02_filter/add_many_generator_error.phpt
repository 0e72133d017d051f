--TEST--
bloom_add_many() from a generator: a bad element or an exception ends it, the filter is sound
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/add_many_generator_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 1000, expansion: 0);
show_thrown(
    fn () => bloom_add_many('f', (function () {
        yield from keys('k', 17);
        yield null;
        yield 'never';
    })()),
    fn () => bloom_add_many('f', (function () {
        yield 'a';
        throw new LogicException('the query failed');
    })()),
);
var_dump(bloom_maybe_has('f', 'never'));
// What was taken before is whole or not there; either way the filter goes on.
$items = bloom_info('f')['items'];
var_dump(bloom_add('f', 'new'), bloom_info('f')['items'] === $items + 1);
done();
?>
--EXPECTF--
TypeError: bloom_add_many(): Argument #2 ($keys) %s17%S
LogicException: the query failed
bool(false)
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

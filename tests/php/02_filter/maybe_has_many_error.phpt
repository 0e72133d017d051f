--TEST--
bloom_maybe_has_many() names the element that is no key; a row is none here
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/maybe_has_many_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 1000, expansion: 0);
foreach ([null, false, new stdClass(), ['row']] as $bad) {
    $keys = keys('k', 20);
    $keys[17] = $bad;
    show_thrown(fn () => bloom_maybe_has_many('f', $keys));
}
show_thrown(
    fn () => bloom_maybe_has_many('f', ['a', null, 'b']),
    fn () => bloom_maybe_has_many('f', new ArrayIterator(['a'])),
    // A bad element is a mistake in the page, not a question of what is loaded.
    fn () => bloom_maybe_has_many('missing', ['a', null]),
);
?>
--EXPECTF--
TypeError: bloom_maybe_has_many(): Argument #2 ($keys) %s17%S
TypeError: bloom_maybe_has_many(): Argument #2 ($keys) %s17%S
TypeError: bloom_maybe_has_many(): Argument #2 ($keys) %s17%S
TypeError: bloom_maybe_has_many(): Argument #2 ($keys) %s17%S
TypeError: bloom_maybe_has_many(): Argument #2 ($keys) %s1%S
TypeError: bloom_maybe_has_many(): Argument #2 ($keys) must be of type array, ArrayIterator given
TypeError: bloom_maybe_has_many(): Argument #2 ($keys) %s1%S
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

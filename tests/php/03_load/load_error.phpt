--TEST--
bloom_load() checks its arguments before anything is touched
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['stands']);
$generator = (function () {
    echo "the generator was started\n";
    yield 'a';
})();
show_thrown(
    fn () => bloom_load('f', $generator, 0.0),
    fn () => bloom_load('f', $generator, 0.51),
    fn () => bloom_load('f', $generator, NAN),
    fn () => bloom_load('f', $generator, capacity: 0),
    fn () => bloom_load('f', $generator, capacity: -5),
    fn () => bloom_load('f', $generator, capacity: 2 ** 40 + 1),
    fn () => bloom_load('f', $generator, max_error_rate: 0.0),
    fn () => bloom_load('f', $generator, max_error_rate: 1.01),
    fn () => bloom_load('f', $generator, max_error_rate: NAN),
    fn () => bloom_load('f', $generator, expansion: 1),
    fn () => bloom_load('f', $generator, expansion: 33),
    fn () => bloom_load('f', $generator, expansion: -1),
    fn () => bloom_load('f', $generator, expansion: 4, counting: true),
    fn () => bloom_load('f', $generator, seed: ''),
    fn () => bloom_load('f', $generator, seed: str_repeat('s', 65)),
    fn () => bloom_load('f', 'a'),
    fn () => bloom_load('f', new stdClass()),
    fn () => bloom_load('f', null),
);
var_dump(bloom_maybe_has('f', 'stands'), bloom_maybe_has('f', 'a'));
done();
?>
--EXPECTF--
ValueError: bloom_load(): Argument #3 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_load(): Argument #3 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_load(): Argument #3 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_load(): Argument #4 ($capacity) must be %Sbetween 1 and 1099511627776%S
ValueError: bloom_load(): Argument #4 ($capacity) must be %Sbetween 1 and 1099511627776%S
ValueError: bloom_load(): Argument #4 ($capacity) must be %Sbetween 1 and 1099511627776%S
ValueError: bloom_load(): Argument #5 ($max_error_rate) must be %s 0%s1%S
ValueError: bloom_load(): Argument #5 ($max_error_rate) must be %s 0%s1%S
ValueError: bloom_load(): Argument #5 ($max_error_rate) must be %s 0%s1%S
ValueError: bloom_load(): Argument #6 ($expansion) must be %S0%sbetween 2 and 32%S
ValueError: bloom_load(): Argument #6 ($expansion) must be %S0%sbetween 2 and 32%S
ValueError: bloom_load(): Argument #6 ($expansion) must be %S0%sbetween 2 and 32%S
ValueError: bloom_load(): Argument #6 ($expansion) must be %scounting%S
ValueError: bloom_load(): Argument #8 ($seed) must be %s1 and 64 bytes%S
ValueError: bloom_load(): Argument #8 ($seed) must be %s1 and 64 bytes%S
TypeError: bloom_load(): Argument #2 ($keys) must be of type %s, string given
TypeError: bloom_load(): Argument #2 ($keys) must be of type %s, stdClass given
TypeError: bloom_load(): Argument #2 ($keys) must be of type %s, null given
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

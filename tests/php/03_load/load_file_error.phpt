--TEST--
bloom_load_file() checks its arguments before anything is touched
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

file_put_contents(scratch(), "a\n");
bloom_load('f', ['stands']);
$path = scratch();
show_thrown(
    fn () => bloom_load_file('f', $path, 0.0),
    fn () => bloom_load_file('f', $path, 0.6),
    fn () => bloom_load_file('f', $path, capacity: 0),
    fn () => bloom_load_file('f', $path, capacity: 2 ** 40 + 1),
    fn () => bloom_load_file('f', $path, max_error_rate: 0),
    fn () => bloom_load_file('f', $path, max_error_rate: 2),
    fn () => bloom_load_file('f', ''),
    fn () => bloom_load_file('f', $path, delimiter: ''),
    fn () => bloom_load_file('f', $path, delimiter: "\r\n"),
    fn () => bloom_load_file('f', $path, expansion: 1),
    fn () => bloom_load_file('f', $path, seed: ''),
    fn () => bloom_load_file('f', $path, seed: str_repeat('s', 65)),
    fn () => bloom_load_file('f', "$path\0"),
);
var_dump(bloom_maybe_has_many('f', ['stands', 'a']) === [true, false]);
done();
?>
--EXPECTF--
ValueError: bloom_load_file(): Argument #3 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_load_file(): Argument #3 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_load_file(): Argument #4 ($capacity) must be %Sbetween 1 and 1099511627776%S
ValueError: bloom_load_file(): Argument #4 ($capacity) must be %Sbetween 1 and 1099511627776%S
ValueError: bloom_load_file(): Argument #5 ($max_error_rate) must be %s 0%s1%S
ValueError: bloom_load_file(): Argument #5 ($max_error_rate) must be %s 0%s1%S
ValueError: bloom_load_file(): Argument #2 ($path) cannot be empty
ValueError: bloom_load_file(): Argument #6 ($delimiter) must be %Sone %s
ValueError: bloom_load_file(): Argument #6 ($delimiter) must be %Sone %s
ValueError: bloom_load_file(): Argument #7 ($expansion) must be %S0%sbetween 2 and 32%S
ValueError: bloom_load_file(): Argument #8 ($seed) must be %s1 and 64 bytes%S
ValueError: bloom_load_file(): Argument #8 ($seed) must be %s1 and 64 bytes%S
ValueError: bloom_load_file(): Argument #2 ($path) must not contain any null bytes
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_merge() looks at all names before it touches anything, and says which argument is wrong
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/merge_names_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('a', 100, seed: 'shared');
bloom_reserve('b', 100, seed: 'shared');
bloom_add('b', 'k');
final class Name implements Stringable
{
    public function __toString(): string
    {
        return 'b';
    }
}
show_thrown(
    fn () => bloom_merge(),
    fn () => bloom_merge('', 'b'),
    fn () => bloom_merge('a', '', 'b'),
    fn () => bloom_merge('a', 'b', str_repeat('n', 64)),
    fn () => bloom_merge('a', 'b', 'b', "b\0"),
    fn () => bloom_merge('a', 'b', ['b']),
    fn () => bloom_merge('a', 'b', new stdClass()),
    fn () => bloom_merge([], 'b'),
    fn () => bloom_merge('a', from: 'b'),
);
var_dump(bloom_maybe_has('a', 'k'));
// What can be a string may be a name, and so may many of them.
var_dump(bloom_merge('a', new Name(), ...array_fill(0, 1000, 'b')), bloom_maybe_has('a', 'k'));
done();
?>
--EXPECTF--
ArgumentCountError: bloom_merge() expects at least 1 argument, 0 given
ValueError: bloom_merge(): Argument #1 ($into) must be %s1 to 63 bytes%S
ValueError: bloom_merge(): Argument #2 must be %s1 to 63 bytes%S
ValueError: bloom_merge(): Argument #3 must be %s1 to 63 bytes%S
ValueError: bloom_merge(): Argument #4 must be %s1 to 63 bytes%S
TypeError: bloom_merge(): Argument #3 must be of type string, array given
TypeError: bloom_merge(): Argument #3 must be of type string, stdClass given
TypeError: bloom_merge(): Argument #1 ($into) must be of type string, array given
ArgumentCountError: %Sbloom_merge() does not accept %Snamed %s
bool(false)
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

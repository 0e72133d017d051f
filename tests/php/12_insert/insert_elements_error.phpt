--TEST--
bloom_insert() names the element that is no key; it has then made and added nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/insert_elements_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

final class Throwing implements Stringable
{
    public function __toString(): string
    {
        throw new LogicException('thrown by __toString()');
    }
}
bloom_reserve('stands', 100);
foreach (['stands', 'missing'] as $name) {
    show_thrown(
        fn () => bloom_insert($name, ['a', null]),
        fn () => bloom_insert($name, ['a', 'b', true]),
        fn () => bloom_insert($name, ['x' => 'a', 'y' => new stdClass()]),
        fn () => bloom_insert($name, [[]]),
        fn () => bloom_insert($name, ['a', [null, 'b']]),
        fn () => bloom_insert($name, [[['nested']]]),
        fn () => bloom_insert($name, ['a', STDIN]),
        fn () => bloom_insert($name, ['a', new Throwing()]),
        fn () => bloom_insert($name, 'a'),
        fn () => bloom_insert($name, (function () {
            yield 'a';
            yield null;
        })()),
        fn () => bloom_insert($name, (function () {
            yield 'a';
            throw new LogicException('thrown by the generator');
        })()),
    );
}
var_dump(bloom_list(), bloom_info('stands')['items']);
done();
?>
--EXPECTF--
TypeError: bloom_insert(): Argument #2 ($keys) must %s null given at element 1
TypeError: bloom_insert(): Argument #2 ($keys) must %s bool given at element 2
TypeError: bloom_insert(): Argument #2 ($keys) must %s stdClass given at element 1
TypeError: bloom_insert(): Argument #2 ($keys) must %s element 0 is empty
TypeError: bloom_insert(): Argument #2 ($keys) must %s null given at element 1
TypeError: bloom_insert(): Argument #2 ($keys) must %s array given at element 0
TypeError: bloom_insert(): Argument #2 ($keys) must %s resource given at element 1
LogicException: thrown by __toString()
TypeError: bloom_insert(): Argument #2 ($keys) must be of type %s, string given
TypeError: bloom_insert(): Argument #2 ($keys) must %s null given at element 1
LogicException: thrown by the generator
TypeError: bloom_insert(): Argument #2 ($keys) must %s null given at element 1
TypeError: bloom_insert(): Argument #2 ($keys) must %s bool given at element 2
TypeError: bloom_insert(): Argument #2 ($keys) must %s stdClass given at element 1
TypeError: bloom_insert(): Argument #2 ($keys) must %s element 0 is empty
TypeError: bloom_insert(): Argument #2 ($keys) must %s null given at element 1
TypeError: bloom_insert(): Argument #2 ($keys) must %s array given at element 0
TypeError: bloom_insert(): Argument #2 ($keys) must %s resource given at element 1
LogicException: thrown by __toString()
TypeError: bloom_insert(): Argument #2 ($keys) must be of type %s, string given
TypeError: bloom_insert(): Argument #2 ($keys) must %s null given at element 1
LogicException: thrown by the generator
array(1) {
  [0]=>
  string(6) "stands"
}
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_cache_get_many() and bloom_cache_delete_many() name the element that is no key, and touch nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/get_many_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
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
bloom_cache_set_many(['a' => 1, 'b' => 2]);
$info = bloom_cache_info();
foreach (['bloom_cache_get_many', 'bloom_cache_delete_many'] as $function) {
    show_thrown(
        fn () => $function(['a', null]),
        fn () => $function(['a', 'b', true]),
        fn () => $function(['x' => 'a', 'y' => new stdClass()]),
        fn () => $function(['a', []]),
        fn () => $function([['a']]),
        fn () => $function(['a', STDIN]),
        fn () => $function(['a', new Throwing()]),
        fn () => $function('a'),
        fn () => $function(new ArrayIterator(['a'])),
    );
}
check_same($info, bloom_cache_info(), 'info');
check_same(['a' => 1, 'b' => 2], bloom_cache_get_many(['a', 'b']), 'records');
done();
?>
--EXPECTF--
TypeError: bloom_cache_get_many(): Argument #1 ($keys) must %s null given at element 1
TypeError: bloom_cache_get_many(): Argument #1 ($keys) must %s bool given at element 2
TypeError: bloom_cache_get_many(): Argument #1 ($keys) must %s stdClass given at element 1
TypeError: bloom_cache_get_many(): Argument #1 ($keys) must %s array given at element 1
TypeError: bloom_cache_get_many(): Argument #1 ($keys) must %s array given at element 0
TypeError: bloom_cache_get_many(): Argument #1 ($keys) must %s resource given at element 1
LogicException: thrown by __toString()
TypeError: bloom_cache_get_many(): Argument #1 ($keys) must be of type array, string given
TypeError: bloom_cache_get_many(): Argument #1 ($keys) must be of type array, ArrayIterator given
TypeError: bloom_cache_delete_many(): Argument #1 ($keys) must %s null given at element 1
TypeError: bloom_cache_delete_many(): Argument #1 ($keys) must %s bool given at element 2
TypeError: bloom_cache_delete_many(): Argument #1 ($keys) must %s stdClass given at element 1
TypeError: bloom_cache_delete_many(): Argument #1 ($keys) must %s array given at element 1
TypeError: bloom_cache_delete_many(): Argument #1 ($keys) must %s array given at element 0
TypeError: bloom_cache_delete_many(): Argument #1 ($keys) must %s resource given at element 1
LogicException: thrown by __toString()
TypeError: bloom_cache_delete_many(): Argument #1 ($keys) must be of type array, string given
TypeError: bloom_cache_delete_many(): Argument #1 ($keys) must be of type array, ArrayIterator given
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_cache_set_many() stores none when one value cannot be serialized
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/set_many_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

final class Refusing
{
    public function __serialize(): array
    {
        throw new LogicException('thrown by __serialize()');
    }
}
bloom_cache_set('a', 'old');
show_thrown(
    fn () => bloom_cache_set_many(['a' => 1, 'b' => 2, 'c' => fn () => 1]),
    fn () => bloom_cache_set_many(['a' => 1, 'b' => [new Refusing()], 'c' => 3]),
    fn () => bloom_cache_set_many(['a' => 1, 'b' => STDIN]),
    fn () => bloom_cache_set_many(['a' => 1, 'b' => new class {
    }]),
    fn () => bloom_cache_set_many(['a' => 1, 'b' => ['deep' => [[fn () => 1]]]]),
    fn () => bloom_cache_set_many('a'),
    fn () => bloom_cache_set_many(new ArrayIterator(['a' => 1])),
);
var_dump(bloom_cache_get('a'), bloom_cache_info()['records'], bloom_cache_info()['sets']);
done();
?>
--EXPECTF--
Exception: Serialization of 'Closure' is not allowed
LogicException: thrown by __serialize()
BloomShm\Exception INCOMPATIBLE: %S
Exception: Serialization of 'class@anonymous' is not allowed
Exception: Serialization of 'Closure' is not allowed
TypeError: bloom_cache_set_many(): Argument #1 ($values) must be of type array, string given
TypeError: bloom_cache_set_many(): Argument #1 ($values) must be of type array, ArrayIterator given
string(3) "old"
int(1)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

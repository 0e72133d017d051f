--TEST--
What __unserialize() throws comes out of the call that reads; the record stays
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/unserialize_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

final class Throwing
{
    public static bool $throws = false;

    public function __serialize(): array
    {
        return ['x' => 1];
    }

    public function __unserialize(array $data): void
    {
        if (self::$throws) {
            throw new LogicException('thrown by __unserialize()');
        }
    }
}
bloom_cache_set('a', new Throwing());
bloom_cache_set('b', 1);
Throwing::$throws = true;
$cursor = 0;
show_thrown(
    fn () => bloom_cache_get('a'),
    fn () => bloom_cache_get('a', 'default'),
    fn () => bloom_cache_get_many(['b', 'a']),
    function () use (&$cursor) {
        return bloom_cache_scan($cursor);
    },
);
Throwing::$throws = false;
var_dump(bloom_cache_get('a') instanceof Throwing, bloom_cache_has('a'), bloom_cache_info()['records']);
// A class that is not there any more is PHP's incomplete class, as with unserialize().
echo Child::run('echo get_class(bloom_cache_get("a")), "\n";');
done();
?>
--EXPECT--
LogicException: thrown by __unserialize()
LogicException: thrown by __unserialize()
LogicException: thrown by __unserialize()
LogicException: thrown by __unserialize()
bool(true)
bool(true)
int(2)
__PHP_Incomplete_Class
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

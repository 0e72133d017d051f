--TEST--
The store is called in the midst of serializing and unserializing: each value stands for itself
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/serialize_nested.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

/** What is stored has a property that the class does not: PHP says so while it unserializes. */
class Lost
{
    public function __serialize(): array
    {
        return ['gone' => 1];
    }
}

/** PHP warns while it serializes. */
class Sleeper
{
    public int $there = 1;

    public function __sleep(): array
    {
        return ['there', 'missing'];
    }
}

final class Dropper
{
    public static mixed $dropped = null;

    public function __serialize(): array
    {
        self::$dropped = null;
        return [];
    }
}

/** What the call gives, with an error handler that is called in its midst. */
function interrupted(Closure $handler, Closure $call): mixed
{
    set_error_handler(function () use ($handler): bool {
        $handler();
        return true;
    });
    try {
        return $call();
    } finally {
        restore_error_handler();
    }
}

// A value that is stored while another is serialized does not lean on that one.
$shared = new ArrayObject(['shared']);
check_same(true, interrupted(
    fn () => bloom_cache_set('inner', [$shared, 'inner']),
    fn () => bloom_cache_set('outer', [$shared, new Sleeper(), $shared]),
), 'set');
check_same('shared', bloom_cache_get('inner')[0][0], 'the inner value');
$outer = bloom_cache_get('outer');
check_same($outer[0], $outer[2], 'the outer value');

// Nor what is read while another is unserialized.
$inner = [['a'], ['b'], ['c'], ['d'], ['e']];
$object = new stdClass();
$value = [new Lost(), $object, $object];
bloom_cache_set_many(['inner' => $inner, 'outer' => $value]);
$payload = serialize($value);
foreach ([fn () => bloom_cache_get('outer', 'default'), fn () => unserialize($payload)] as $i => $read) {
    $seen = [];
    $got = interrupted(function () use (&$seen): void {
        $seen[] = bloom_cache_get('inner');
    }, $read);
    check_same([$inner], $seen, "$i: what was read meanwhile");
    check(is_array($got) && $got[1] instanceof stdClass && $got[1] === $got[2], "$i: the outer value");
}

// What a value's own methods serialize belongs to it: here an object that leads back to the one around it.
error_reporting(E_ALL & ~E_DEPRECATED);
eval('class Node implements Serializable {
    public mixed $parent;
    public function serialize(): string { return serialize($this->parent); }
    public function unserialize(string $data): void { $this->parent = unserialize($data); }
}');
error_reporting(E_ALL);
$parent = new stdClass();
$parent->child = new Node();
$parent->child->parent = $parent;
check_same(true, bloom_cache_set('cycle', $parent), 'set a cycle');
$got = bloom_cache_get('cycle');
check_same($got, $got->child->parent, 'get a cycle');

// An element that is a reference to what user code drops.
Dropper::$dropped = [new Dropper(), str_repeat('a', 100), [1, 2], new Dropper(), 'last'];
check_same(2, bloom_cache_set_many(['k' => &Dropper::$dropped, 'l' => 2]), 'set_many');
check_same('last', bloom_cache_get('k')[4], 'as it was when it was given');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

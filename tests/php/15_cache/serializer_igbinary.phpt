--TEST--
bloomshm.serializer=igbinary: types survive, and what the other serializer stored is still read
--EXTENSIONS--
bloomshm
igbinary
--INI--
bloomshm.path={PWD}/serializer_igbinary.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
bloomshm.serializer=igbinary
--FILE--
<?php
require __DIR__ . '/../helper.inc';

final class Point
{
    public function __construct(public int $x, public ?Point $next = null)
    {
    }
}
$values = [[], [1, '1', 1.0, null], ['a' => ['b' => [true]]], new Point(1, new Point(2)), (object) ['a' => 1], range(1, 5000)];
foreach ($values as $i => $value) {
    bloom_cache_set("v$i", $value);
    check(serialize($value) === serialize(bloom_cache_get("v$i")), "value $i");
}
foreach ([null, false, 1, 1.5, 'text'] as $value) {
    check(bloom_cache_set('scalar', $value) && bloom_cache_get('scalar', 'default') === $value, json_encode($value));
}
var_dump(bloom_cache_cas('v1', [1, '1', 1.0, null], 'swapped'), bloom_cache_cas('v2', ['a' => ['b' => [1]]], 'swapped'));
// Stored by one serializer, read by the other.
echo Child::run(<<<'PHP'
    echo json_encode(bloom_cache_get('v2')), "\n";
    bloom_cache_set('by php', ['x' => [1]]);
    PHP, ['bloomshm.serializer' => 'php']);
echo json_encode(bloom_cache_get('by php')), "\n";
// And compared with it: what is read can be expected.
var_dump(bloom_cache_cas('by php', ['x' => [2]], 1), bloom_cache_cas('by php', ['x' => [1]], ['x' => [2]]));
echo Child::run(<<<'PHP'
    var_dump(bloom_cache_cas('by php', ['x' => [2]], ['x' => [3]]));
    PHP, ['bloomshm.serializer' => 'php']);
echo json_encode(bloom_cache_get('by php')), "\n";
show_thrown(fn () => bloom_cache_set('v2', fn () => 1), fn () => bloom_cache_set('v2', [fn () => 1]), fn () => bloom_cache_set('v2', STDIN));
echo json_encode(bloom_cache_get('v2')), "\n";
done();
?>
--EXPECTF--
bool(true)
bool(false)
{"a":{"b":[true]}}
{"x":[1]}
bool(false)
bool(true)
bool(true)
{"x":[3]}
Exception: Serialization of 'Closure' is not allowed
Exception: Serialization of 'Closure' is not allowed
BloomShm\Exception INCOMPATIBLE: %S
{"a":{"b":[true]}}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

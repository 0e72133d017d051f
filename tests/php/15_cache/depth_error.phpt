--TEST--
Arrays and objects that go deeper than unserialize() follows are INCOMPATIBLE, before anything is touched
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/depth_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

final class Node
{
    public function __construct(public mixed $next, public string $text = '}}}{{{a:1:{', public array $empty = [])
    {
    }
}

enum Suit: string
{
    case Hearts = 'H';
}

/** A value of so many levels. */
function nested(int $levels, callable $wrap): mixed
{
    $value = 'core';
    for ($i = 0; $i < $levels; $i++) {
        $value = $wrap($value);
    }
    return $value;
}

$kinds = [
    'array' => fn (mixed $inner) => [$inner],
    'array with neighbours' => fn (mixed $inner) => ['{' => [], 'a' => Suit::Hearts, 'o' => 1.5, 'k;' => $inner, 'z' => null],
    'object' => fn (mixed $inner) => new Node($inner),
];
ini_set('unserialize_max_depth', '200');
bloom_cache_set('k', 'stands');
foreach ($kinds as $name => $wrap) {
    // What is refused is exactly what unserialize() does not read.
    foreach ([199, 200, 201, 202] as $levels) {
        $value = nested($levels, $wrap);
        $reads = @unserialize(serialize($value)) !== false;
        check_same($levels <= 200, $reads, "$name, $levels: PHP's own");
        $thrown = thrown_by(fn () => bloom_cache_add("$name $levels", $value));
        check_same($reads, $thrown === 'nothing thrown, returned true', "$name, $levels: $thrown");
        check_same($reads, bloom_cache_get("$name $levels") == $value && bloom_cache_has("$name $levels"), "$name, $levels");
    }
}
// Many levels beside one another are not deep.
check_same(true, bloom_cache_set('wide', array_fill(0, 2000, [[[1]], new Node([])])), 'wide');
$deep = nested(201, $kinds['array']);
show_thrown(
    fn () => bloom_cache_set('k', $deep),
    fn () => bloom_cache_set_many(['k' => 1, 'l' => $deep]),
    fn () => bloom_cache_cas('k', 'stands', $deep),
    fn () => bloom_cache_remember('m', fn () => $deep),
);
var_dump(bloom_cache_get('k'));
ini_set('unserialize_max_depth', '0');
check_same(true, bloom_cache_set('k', $deep) && bloom_cache_get('k') === $deep, 'without a limit');
done();
?>
--EXPECT--
BloomShm\Exception INCOMPATIBLE: a value of type array cannot be stored: it goes deeper than unserialize() follows, 200 levels; the limit is unserialize_max_depth
BloomShm\Exception INCOMPATIBLE: a value of type array cannot be stored: it goes deeper than unserialize() follows, 200 levels; the limit is unserialize_max_depth
BloomShm\Exception INCOMPATIBLE: a value of type array cannot be stored: it goes deeper than unserialize() follows, 200 levels; the limit is unserialize_max_depth
BloomShm\Exception INCOMPATIBLE: a value of type array cannot be stored: it goes deeper than unserialize() follows, 200 levels; the limit is unserialize_max_depth
string(6) "stands"
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_cache_remember() calls the loader once, with the key, and keeps what it returns
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/remember.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$calls = [];
$load = function (...$arguments) use (&$calls) {
    $calls[] = $arguments;
    return ['value', count($calls)];
};
check_same(['value', 1], bloom_cache_remember('a', $load), 'loaded');
check_same(['value', 1], bloom_cache_remember('a', $load), 'kept');
check_same([['a']], $calls, 'the arguments of the only call');
check_same(['value', 1], bloom_cache_get('a'), 'it is an ordinary record');
check_same(['value', 2], bloom_cache_remember('123', $load), 'another key');
check_same('123', $calls[1][0], 'the key is a string');
check_same(['value', 3], bloom_cache_remember('', $load), 'the empty key');
check_same(['value', 3], bloom_cache_remember('', $load), 'the empty key again');

// A null is stored like any other, and so are false and the others.
foreach ([null, false, 0, '', 0.0, [], NAN, str_repeat('x', 100000), (object) ['a' => 1]] as $i => $value) {
    $count = 0;
    $counting = function () use ($value, &$count) {
        $count++;
        return $value;
    };
    for ($j = 0; $j < 3; $j++) {
        check(serialize($value) === serialize(bloom_cache_remember("value $i", $counting)), "value $i");
    }
    check_same(1, $count, "calls for value $i");
    check(bloom_cache_has("value $i"), "value $i is stored");
}
// What is there already is not loaded.
bloom_cache_set('null', null);
var_dump(bloom_cache_remember('null', fn () => 'loaded'));
bloom_cache_delete('null');
var_dump(bloom_cache_remember('null', fn () => 'loaded'));
// All that can be called.
final class Loader
{
    public static function load(string $key): string
    {
        return "static $key";
    }

    public function __invoke(string $key): string
    {
        return "invoked $key";
    }
}
var_dump(
    bloom_cache_remember('b', 'strtoupper'),
    bloom_cache_remember('c', 'Loader::load'),
    bloom_cache_remember('d', [new Loader(), 'load']),
    bloom_cache_remember('e', new Loader()),
    bloom_cache_remember('f', strrev(...)),
    bloom_cache_remember('g', function () {
    }),
);
done();
?>
--EXPECT--
NULL
string(6) "loaded"
string(1) "B"
string(8) "static c"
string(8) "static d"
string(9) "invoked e"
string(1) "f"
NULL
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

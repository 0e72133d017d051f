--TEST--
bloom_cache_get() gives back what bloom_cache_set() took, of the same type
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/set_get.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

enum Suit: string
{
    case Hearts = 'H';
    case Spades = 'S';
}

final class Point
{
    public function __construct(private int $x, private ?Point $next = null)
    {
    }

    public function __serialize(): array
    {
        return ['x' => $this->x, 'next' => $this->next];
    }

    public function __unserialize(array $data): void
    {
        [$this->x, $this->next] = [$data['x'], $data['next']];
    }
}

$object = new stdClass();
$object->self = $object;
$object->list = [1, 2.5, 'three', null, true];
$values = [
    'null' => null,
    'false' => false,
    'true' => true,
    'int 0' => 0,
    'int 1' => 1,
    'int -1' => -1,
    'int min' => PHP_INT_MIN,
    'int max' => PHP_INT_MAX,
    'float 0' => 0.0,
    'float -0' => -0.0,
    'float 0.1' => 0.1,
    'float 1' => 1.0,
    'float min' => PHP_FLOAT_MIN,
    'float denormal' => 4.9e-324,
    'float max' => PHP_FLOAT_MAX,
    'infinite' => INF,
    '-infinite' => -INF,
    'nan' => NAN,
    'empty' => '',
    '"0"' => '0',
    '"1"' => '1',
    'like null' => 'N;',
    'like an array' => 'a:0:{}',
    'nul bytes' => "\0a\0",
    'binary' => implode(array_map('chr', range(0, 255))),
    '100 kB' => str_repeat("\0\xff 0123456789abc", 6400),
    'no elements' => [],
    'list' => [1, '1', 1.0, true, null],
    'nested' => ['a' => ['b' => ['c' => [[], [[]], 'd']]], -5 => 'minus', '05' => 'string', '' => 'empty'],
    'large' => range(0, 20000),
    'object' => (object) ['a' => 1, 'b' => (object) []],
    'serialize' => new Point(1, new Point(2)),
    'enum' => Suit::Spades,
    'enums' => [Suit::Hearts, Suit::Hearts],
    'array object' => new ArrayObject(['a' => new Point(3)]),
    'date' => new DateTimeImmutable('2020-02-29 12:34:56.789 UTC'),
];
foreach ($values as $name => $value) {
    check(bloom_cache_set($name, $value), "$name is stored");
}
foreach ($values as $name => $value) {
    check(bloom_cache_has($name), "$name is there");
    $got = bloom_cache_get($name, 'default');
    check_same(get_debug_type($value), get_debug_type($got), "the type of $name");
    check(serialize($value) === serialize($got), "$name: got " . substr(var_export($got, true), 0, 200));
}
check_same('80', bin2hex(strrev(pack('e', bloom_cache_get('float -0')))[0]), 'the sign of -0.0');
check(bloom_cache_get('enum') === Suit::Spades, 'an enum case is itself');

bloom_cache_set('recursive', $object);
$got = bloom_cache_get('recursive');
check($got->self === $got && $got !== $object && $got->list === $object->list, 'an object that holds itself');

// In another process, too.
echo Child::run(<<<'PHP'
    var_dump(bloom_cache_get('null', 'default'), bloom_cache_get('float -0'), bloom_cache_get('nan'), bloom_cache_get('"0"'));
    var_dump(bloom_cache_get('nested')['a']['b']['c'], bloom_cache_get('int min') === PHP_INT_MIN);
    PHP);
done();
?>
--EXPECT--
NULL
float(-0)
float(NAN)
string(1) "0"
array(3) {
  [0]=>
  array(0) {
  }
  [1]=>
  array(1) {
    [0]=>
    array(0) {
    }
  }
  [2]=>
  string(1) "d"
}
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

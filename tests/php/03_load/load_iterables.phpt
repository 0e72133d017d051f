--TEST--
bloom_load() takes arrays, generators and other iterators
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_iterables.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

class Rows implements IteratorAggregate
{
    public function getIterator(): Iterator
    {
        return new ArrayIterator([['tag' => 'a', 'id' => 1], ['tag' => 'b', 'id' => 2]]);
    }
}

function generator(): Generator
{
    yield 'a';
    yield from ['b'];
    return 'not a key';
}

$string = 'a';
foreach ([['x' => 'a', 'y' => 'b'], [&$string, 'b'], new Rows(), generator(), new ArrayObject(['a', 'b']), new SplFixedArray(0)] as $keys) {
    if ($keys instanceof SplFixedArray) {
        $keys = SplFixedArray::fromArray(['a', 'b']);
    }
    var_dump(bloom_load('f', $keys)['keys']);
    check_same([true, true, false, false, false], bloom_maybe_has_many('f', ['a', 'b', 'x', '1', 'not a key']), get_debug_type($keys));
    bloom_drop('f');
}
done();
?>
--EXPECT--
int(2)
int(2)
int(2)
int(2)
int(2)
int(2)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

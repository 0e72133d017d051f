--TEST--
A key whose __toString() changes the array that is being read
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/stringable_array_changes.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

class Changes
{
    public function __toString(): string
    {
        $GLOBALS['keys'] = [];
        $GLOBALS['first'] = str_repeat('z', 100);
        return 'changes';
    }
}

bloom_load('f', ['a', 'changes', 'b']);
$first = 'a';
$keys = [&$first, new Changes(), 'b'];
var_dump(bloom_maybe_has_many('f', $keys) === [true, true, true], count($keys));
$first = 'a';
$keys = [&$first, new Changes(), 'b', 'c'];
bloom_add_many('f', $keys);
var_dump(count_no('f', ['changes', 'b', 'c']));
$first = 'a';
$keys = [[&$first], [new Changes()], ['b'], ['d']];
var_dump(bloom_load('f', $keys)['keys'], count_no('f', ['changes', 'b', 'd']));
done();
?>
--EXPECT--
bool(true)
int(0)
int(0)
int(4)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

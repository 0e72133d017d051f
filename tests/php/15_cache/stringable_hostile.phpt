--TEST--
Keys whose __toString() changes the store or the list itself
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/stringable_hostile.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

final class Key implements Stringable
{
    public function __construct(private Closure $call)
    {
    }

    public function __toString(): string
    {
        return ($this->call)();
    }
}
bloom_cache_set_many(['a' => 1, 'b' => 2, 'c' => 3]);
$keys = ['a', new Key(function () use (&$keys) {
    $keys = [];
    bloom_cache_delete('a');
    bloom_cache_set('b', 'changed');
    return 'b';
}), 'c'];
// User code comes first, then the store is asked.
echo json_encode(bloom_cache_get_many($keys, 'default')), "\n";
$keys = ['b', new Key(function () use (&$keys) {
    $keys = [];
    return (string) bloom_cache_delete('b');
}), 'c'];
var_dump(bloom_cache_delete_many($keys), bloom_cache_info()['records']);
done();
?>
--EXPECT--
{"a":"default","b":"changed","c":3}
int(1)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

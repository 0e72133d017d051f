--TEST--
A value that cannot be serialized throws before anything is touched
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/serializer_error.seg
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
$info = bloom_cache_info();
foreach ([fn () => 1, [[fn () => 1]], STDIN, new Refusing(), [1, new Refusing()], new class {
}] as $i => $value) {
    if ($i === 0) {
        echo thrown_by(fn () => bloom_cache_set('a', $value)), "\n";
    }
    $thrown = array_unique([
        thrown_by(fn () => bloom_cache_set('a', $value)),
        thrown_by(fn () => bloom_cache_set_many(['b' => 1, 'a' => $value])),
        thrown_by(fn () => bloom_cache_add('b', $value)),
        thrown_by(fn () => bloom_cache_add('a', $value)),
        thrown_by(fn () => bloom_cache_replace('a', $value)),
        thrown_by(fn () => bloom_cache_replace('b', $value)),
        thrown_by(fn () => bloom_cache_cas('a', 'old', $value)),
        thrown_by(fn () => bloom_cache_cas('a', 'other', $value)),
        thrown_by(fn () => bloom_cache_cas('a', $value, 'new')),
    ]);
    check_same(1, count($thrown), 'ways to say it');
    echo $thrown[0], "\n";
}
check_same($info, bloom_cache_info(), 'info');
var_dump(bloom_cache_get('a'), bloom_cache_has('b'));
// A resource inside an array becomes 0 for PHP's serializer.
var_dump(bloom_cache_set('a', [STDIN]), bloom_cache_get('a'));
done();
?>
--EXPECTF--
Exception: Serialization of 'Closure' is not allowed
Exception: Serialization of 'Closure' is not allowed
Exception: Serialization of 'Closure' is not allowed
BloomShm\Exception INCOMPATIBLE: a value of type resource cannot be stored%S
LogicException: thrown by __serialize()
LogicException: thrown by __serialize()
Exception: Serialization of 'class@anonymous' is not allowed
string(3) "old"
bool(false)
bool(true)
array(1) {
  [0]=>
  int(0)
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

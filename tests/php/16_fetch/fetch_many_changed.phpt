--TEST--
What changes keys while bloom_fetch_many() and bloom_cache_remember_many() load them stays; nested calls and fibers
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_many_changed.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$keys = keys('k', 5);
$loaded = array_combine($keys, keys('loaded ', 5));
$changes = [
    'set' => ['bloom_cache_set("k1", "new");', 'new'],
    'delete' => ['bloom_cache_delete("k1");', null],
    'increment' => ['bloom_cache_increment("k1");', 1],
    'clear' => ['bloom_cache_clear();', null],
    'add' => ['bloom_cache_add("k1", "new");', 'new'],
    'remember' => ['bloom_cache_set("k1", "x"); bloom_cache_delete("k1"); bloom_cache_remember("k1", fn () => "new");', 'new'],
    'remember_many' => ['bloom_cache_set("k1", "x"); bloom_cache_delete("k1"); bloom_cache_remember_many(["k1"], fn () => ["k1" => "new"]);', 'new'],
];
foreach ($changes as $name => [$code, $kept]) {
    foreach (['here' => fn () => eval($code), 'by another' => fn () => Child::run($code)] as $where => $change) {
        bloom_cache_clear();
        $got = bloom_cache_remember_many($keys, function () use ($change, $loaded) {
            $change();
            return $loaded;
        });
        check_same(array_values($loaded), $got, "$name $where: what was loaded");
        $expected = $name === 'clear' ? array_fill_keys($keys, null) : [...$loaded, 'k1' => $kept];
        check_same($expected, bloom_cache_get_many($keys), "$name $where: what is kept");
    }
}
// Keys of a filter that come, or are forgotten, while they are loaded.
$ways = [
    'add' => 'bloom_add("f", "k1");',
    'add_many' => 'bloom_add_many("f", ["k0", "k1"]);',
    'load' => 'bloom_load("f", keys("k", 5));',
    'forget' => 'bloom_forget("f", "k1");',
];
foreach ($ways as $name => $code) {
    foreach (['here' => fn () => eval($code), 'by another' => fn () => Child::run($code)] as $where => $change) {
        bloom_load('f', $keys);
        array_map(fn ($key) => bloom_forget('f', $key), $keys);
        bloom_fetch_many('f', $keys, function () use ($change, $loaded) {
            $change();
            return ['k4' => 'kept'];
        });
        check_same(['found', 'kept'], bloom_fetch_many('f', ['k1', 'k4'], fn () => ['k1' => 'found']), "$name $where");
    }
}

// The same keys asked again inside the loader just load; other keys are kept.
bloom_cache_clear();
$inner = [];
check_same(['outer', 'outer'], bloom_cache_remember_many(['a', 'b'], function (array $keys) use (&$inner) {
    $inner[] = bloom_cache_remember_many([...$keys, 'c'], fn (array $keys) => array_fill_keys($keys, 'inner'));
    $inner[] = bloom_cache_remember('a', fn () => 'inner');
    return ['a' => 'outer', 'b' => 'outer'];
}), 'nested');
check_same([['inner', 'inner', 'inner'], 'inner'], $inner, 'the inner values');
check_same(['a' => 'outer', 'b' => 'outer', 'c' => 'inner'], bloom_cache_get_many(['a', 'b', 'c']), 'what is kept');
// A loader that catches, and one that fails in an inner call.
check_same(['caught'], bloom_cache_remember_many(['o'], function () {
    try {
        return bloom_cache_remember_many(['p', 'q'], fn () => throw new LogicException());
    } catch (LogicException) {
        return ['o' => 'caught'];
    }
}), 'caught');
check(bloom_cache_has('o') && !bloom_cache_has('p'), 'what is kept of it');

// A fiber that is left in the middle of a load: a call in the same thread does not wait for it.
bloom_cache_clear();
$at = own_time();
$fiber = new Fiber(fn () => bloom_cache_remember_many(['x', 'y'], fn () => Fiber::suspend() ?? ['x' => 'fiber', 'y' => 'fiber']));
$fiber->start();
check_same(['main', 'main'], bloom_cache_remember_many(['x', 'z'], fn (array $keys) => array_fill_keys($keys, 'main')), 'while a fiber loads');
check_same(true, bloom_cache_set('y', 'set'), 'another change');
$fiber->resume();
check_same(['fiber', 'fiber'], $fiber->getReturn(), 'what the fiber gets');
check_same(['x' => 'fiber', 'y' => 'set', 'z' => 'main'], bloom_cache_get_many(['x', 'y', 'z']), 'what is kept then');
// One that is never resumed gives its leases back when it is destroyed.
$fiber = new Fiber(fn () => bloom_cache_remember_many(['u', 'v'], Fiber::suspend(...)));
$fiber->start();
unset($fiber);
gc_collect_cycles();
check_same('["w","w"]', Child::run('echo json_encode(bloom_cache_remember_many(["u", "v"], fn () => ["u" => "w", "v" => "w"]));'), 'after a fiber was destroyed');
check(own_time() - $at < 4, 'no call waited');

// Values whose unserialize() changes keys, or throws; serialize() that does.
final class Hostile
{
    public function __construct(public string $code) {}
    public function __serialize(): array { eval($this->code); return []; }
    public function __unserialize(array $data): void { bloom_cache_set('side', 1); throw new LogicException('never seen'); }
}
bloom_cache_clear();
bloom_cache_set('hostile', new Hostile(''));
check_same(['anew', 'anew'], bloom_cache_remember_many(['hostile', 'other'], fn (array $keys) => array_fill_keys($keys, 'anew')), 'a value that cannot be read is loaded');
$got = bloom_cache_remember_many(['h1', 'h2', 'h3'], fn () => ['h1' => 1, 'h2' => new Hostile('bloom_cache_set("h1", "side"); bloom_cache_set("h3", "side");'), 'h3' => 3]);
check_same([1, 3], [$got[0], $got[2]], 'what is returned');
check_same(['h1' => 'side', 'h3' => 'side'], bloom_cache_get_many(['h1', 'h3']), 'a change by serialize() stays');
echo thrown_by(fn () => bloom_cache_remember_many(['h4', 'h5'], fn () => ['h4' => 4, 'h5' => new Hostile('throw new LogicException("serialize");')])), "\n";
check_same([null, null], array_values(bloom_cache_get_many(['h4', 'h5'])), 'none is stored');
done();
?>
--EXPECT--
LogicException: serialize
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
More loads at once than there are places, and more loaders than there are leases
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/too_many_at_once.seg
bloomshm.filter_memory=2M
bloomshm.cache_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['stands']);
$free = free_bytes();
$keys = function (string $key) {
    yield $key;
    Fiber::suspend();
    yield "$key, later";
};
$loads = $thrown = [];
for ($i = 0; $i < 70; $i++) {
    $loads[$i] = new Fiber(fn () => bloom_load("load $i", $keys("key $i")));
    try {
        $loads[$i]->start();
    } catch (BloomShm\Exception $e) {
        $thrown[] = code_name($e->getCode()) . ': ' . $e->getMessage();
        unset($loads[$i]);
    }
}
var_dump(count($loads), array_unique($thrown));
// No other call is disturbed: questions, adds and records go on, and another process is told the same.
check_same(true, bloom_add('f', 'added') && bloom_maybe_has('f', 'stands') && !bloom_maybe_has('f', 'b'), 'adds and questions');
echo Child::run('show_thrown(fn () => bloom_load("g", ["a"])); var_dump(bloom_add("f", "too"), bloom_cache_set("a", 1));');
array_map(fn ($load) => $load->resume(), $loads);
check_same(1 + count($loads), count(bloom_list()), 'all that had a place were published');
foreach (array_keys($loads) as $i) {
    check_same(0, count_no("load $i", ["key $i", "key $i, later"]), "load $i");
    bloom_drop("load $i");
}
check_same($free, free_bytes(), 'free bytes');
check_same(0, count_no('f', ['stands', 'added', 'too']), 'what stood, and what was added');

// 256 leases in the only shard; who gets none loads without, and what it loads is not kept.
$loaders = [];
for ($i = 0; $i < 300; $i++) {
    $loaders[$i] = new Fiber(fn () => bloom_cache_remember("key $i", fn () => Fiber::suspend() ?? $i));
    $loaders[$i]->start();
}
$code = '$call = fn () => bloom_cache_remember("another", fn () => "loaded"); var_dump($call(), is_over_in(4, $call));';
echo Child::run($code);
// Many keys, and no lease for any of them: one call, at once.
$keys = keys('many ', 10_000);
$many = fn () => bloom_cache_remember_many($keys, fn () => array_combine($keys, $keys));
check_same($keys, $many(), 'many keys');
check(is_over_in(4, $many), 'they did not wait');
check_same([], array_filter(bloom_cache_get_many($keys)), 'and are not stored');
foreach ($loaders as $i => $loader) {
    $loader->resume();
    check_same($i, $loader->getReturn(), "loader $i");
    check_same($i < 256 ? $i : null, bloom_cache_get("key $i"), "its value is kept: $i");
}
// With all leases free a call takes three quarters of them. Others find the rest, also while it loads.
bloom_cache_clear();
check_same($keys, bloom_cache_remember_many($keys, function () use ($keys) {
    check_same('"stored"', Child::run('bloom_cache_remember("one", fn () => "stored"); echo json_encode(bloom_cache_get("one"));'), 'another');
    return array_combine($keys, $keys);
}), 'many keys');
check_same(192, count(array_filter(bloom_cache_get_many($keys), is_string(...))), 'stored');
check_same([0, 0], [bloom_status()['lock_timeouts'], bloom_cache_info()['lock_timeouts']], 'lock timeouts');
done();
?>
--EXPECT--
int(64)
array(1) {
  [0]=>
  string(57) "NO_SPACE: 64 loads, copies and clears are running already"
}
BloomShm\Exception NO_SPACE: 64 loads, copies and clears are running already
bool(true)
bool(true)
string(6) "loaded"
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

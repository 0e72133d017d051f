--TEST--
bloom_cache_remember(): what is stored under a key while it is loaded stays, and is what the others get
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/remember_overwritten.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

/** Loads "k", does $code meanwhile, and returns what is kept then. */
function kept_after(callable $write, ?string &$printed = null): mixed
{
    bloom_cache_delete('k');
    check_same('old', bloom_cache_remember('k', function () use ($write, &$printed) {
        $printed = $write();
        return 'old';
    }), 'what was loaded is returned');
    return bloom_cache_get('k', 'nothing');
}

bloom_cache_set('k', 'restored');
bloom_cache_dump(scratch('.dump'));
$restore = 'var_dump(bloom_cache_restore(' . var_export(scratch('.dump'), true) . '));';
$writes = [
    'set' => ['var_dump(bloom_cache_set("k", "new"));', 'new', "bool(true)\n"],
    'set_many' => ['var_dump(bloom_cache_set_many(["a" => 1, "k" => "new"]));', 'new', "int(2)\n"],
    'add' => ['var_dump(bloom_cache_add("k", "new"));', 'new', "bool(true)\n"],
    'replace' => ['bloom_cache_set("k", 1); var_dump(bloom_cache_replace("k", "new"));', 'new', "bool(true)\n"],
    'cas' => ['var_dump(bloom_cache_cas("k", null, "new"));', 'new', "bool(true)\n"],
    'increment' => ['for ($i = 0; $i < 10; $i++) $n = bloom_cache_increment("k"); var_dump($n);', 10, "int(10)\n"],
    'decrement' => ['var_dump(bloom_cache_decrement("k", 3));', -3, "int(-3)\n"],
    'append' => ['var_dump(bloom_cache_append("k", "new"));', 'new', "int(3)\n"],
    'restore' => [$restore, 'restored', "int(1)\n"],
    'remember' => ['var_dump(bloom_cache_set("k", "new"), bloom_cache_remember("k", fn () => "not called"));', 'new', "bool(true)\nstring(3) \"new\"\n"],
    // Too large: what is there goes, for it could be taken for the new one. So does what is loaded.
    'set, refused' => ['var_dump(bloom_cache_set("k", str_repeat("x", 2 << 20)));', 'nothing', "bool(false)\n"],
];
foreach ($writes as $name => [$code, $kept, $says]) {
    check_same($kept, kept_after(fn () => Child::run($code), $said), "$name by another process");
    check_same($says, $said, "$name: what it returned");
    check_same($kept, kept_after(function () use ($code) {
        ob_start();
        eval($code);
        return ob_get_clean();
    }), "$name by the loader itself");
}
// A call that changes nothing ends no load.
$others = [
    'refused' => 'bloom_cache_replace("k", 1); bloom_cache_cas("k", 1, 2); bloom_cache_touch("k", 5);',
    'reads' => 'bloom_cache_get("k"); bloom_cache_has("k"); bloom_cache_get_many(["k"]);',
    'other keys' => 'bloom_cache_set_many(["l" => 1, "m" => 2]); bloom_cache_delete("l"); bloom_fetch("f", "k", fn () => 1);',
];
foreach ($others as $name => $code) {
    check_same('old', kept_after(fn () => Child::run($code)), $name);
}

// Another thread of control in this process.
$loader = new Fiber(fn () => bloom_cache_remember('k', function () {
    Fiber::suspend();
    return 'old';
}));
bloom_cache_delete('k');
$loader->start();
bloom_cache_set('k', 'new');
$loader->resume();
check_same(['old', 'new'], [$loader->getReturn(), bloom_cache_get('k')], 'a fiber');

// Those who wait get the new value, or load at once where there is none.
$code = 'echo "here\n"; fgets(STDIN); echo bloom_cache_remember("k", fn () => "loaded"), "\n";';
foreach (['bloom_cache_set("k", "new");' => 'new', 'bloom_cache_delete("k");' => 'loaded'] as $change => $wanted) {
    bloom_cache_delete('k');
    $waiter = new Child($code);
    $waiter->hear();
    check_same('old', bloom_cache_remember('k', function () use ($waiter, $change, $wanted) {
        $waiter->say('go');
        usleep(100_000);
        Child::run($change);
        check_same($wanted, $waiter->hear(), "who waits, after $change");
        return 'old';
    }), $change);
    check_same($wanted, bloom_cache_get('k'), "what is kept after $change");
    $waiter->end();
}
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

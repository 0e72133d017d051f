--TEST--
bloom_cache_remember(): a key that is deleted, or cleared, while it is loaded is loaded again
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/remember_changed.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ([
    'delete' => 'bloom_cache_delete("k");',
    'delete_many' => 'bloom_cache_delete_many(["k"]);',
    'clear' => 'bloom_cache_clear();',
    'clear with a prefix' => 'bloom_cache_clear("k");',
] as $name => $code) {
    check_same('old', bloom_cache_remember('k', function () use ($code) {
        // What the loader has read is changed now; who changed it says so.
        echo Child::run($code);
        return 'old';
    }), "$name: what was loaded");
    check_same('new', bloom_cache_remember('k', fn () => 'new'), "$name: what was loaded then");
    bloom_cache_delete('k');
}
bloom_load('f', ['k']);
check_same('old', bloom_fetch('f', 'k', function () {
    echo Child::run('bloom_cache_clear();');
    return 'old';
}), 'fetch: what was loaded');
check_same('new', bloom_fetch('f', 'k', fn () => 'new'), 'fetch: what was loaded then');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

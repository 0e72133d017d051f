--TEST--
bloom_cache_remember(): a key that is deleted while it is loaded is loaded again
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
] as $name => $code) {
    check_same('old', bloom_cache_remember('k', function () use ($code) {
        // What the loader has read is changed now; who changed it says so.
        echo Child::run($code);
        return 'old';
    }), "$name: what was loaded");
    check_same('new', bloom_cache_remember('k', fn () => 'new'), "$name: what was loaded then");
    bloom_cache_delete('k');
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

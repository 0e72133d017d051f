--TEST--
bloom_cache_remember(): of many processes that want one key, one loads, the others wait for it
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/remember_concurrent.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// The segment is there: a process that meets its creation goes on without it.
bloom_cache_set('loads', 0);
$code = <<<'PHP'
    echo "ready\n";
    fgets(STDIN);
    echo bloom_cache_remember('slow', function () {
        patiently(fn () => bloom_cache_increment('loads'));
        usleep(300000);
        return 'loaded';
    }), "\n";
    // Many keys at once, quick ones.
    for ($i = 0; $i < 300; $i++) {
        bloom_cache_remember("quick $i", function () {
            patiently(fn () => bloom_cache_increment('quick loads'));
            return 'loaded';
        });
    }
    PHP;
$children = [];
for ($i = 0; $i < 8; $i++) {
    $children[] = new Child($code);
}
foreach ($children as $child) {
    $child->hear();
}
foreach ($children as $child) {
    $child->say('go');
}
foreach ($children as $i => $child) {
    check_same('loaded', $child->hear(), "child $i");
}
foreach ($children as $child) {
    echo $child->end();
}
// A lease that could not be asked for in time is one load more.
$refused = bloom_cache_info()['lock_timeouts'];
foreach (['loads' => 1, 'quick loads' => 300] as $key => $once) {
    $loads = bloom_cache_get($key);
    check($loads >= $once && $loads <= $once + $refused, "$key: $loads, refused: $refused");
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

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
        bloom_cache_increment('loads');
        usleep(300000);
        return 'loaded';
    }), "\n";
    // Many keys at once, quick ones.
    for ($i = 0; $i < 300; $i++) {
        bloom_cache_remember("quick $i", function () {
            bloom_cache_increment('quick loads');
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
$at = microtime(true);
foreach ($children as $child) {
    $child->say('go');
}
foreach ($children as $i => $child) {
    check_same('loaded', $child->hear(), "child $i");
}
check(microtime(true) - $at < 2, 'they waited for one load only');
foreach ($children as $child) {
    echo $child->end();
}
var_dump(bloom_cache_get('loads'), bloom_cache_get('quick loads'));
done();
?>
--EXPECT--
int(1)
int(300)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

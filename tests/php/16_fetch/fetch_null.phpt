--TEST--
bloom_fetch(): a null from the loader is a confirmed false positive, counted and remembered
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_null.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('k', 10));
$calls = 0;
$nothing = function () use (&$calls) {
    $calls++;
    return null;
};
check_same(0, bloom_info('f')['false_positives'], 'false positives of a new filter');
foreach (['k0', 'k1', 'k0', 'k0', 'k1', 'k2'] as $key) {
    check_same(null, bloom_fetch('f', $key, $nothing), $key);
}
var_dump($calls, bloom_info('f')['false_positives']);
// It is remembered for other processes, and hidden from the other functions.
echo Child::run('var_dump(bloom_fetch("f", "k0", fn () => print("called\n")));');
$cursor = 0;
var_dump(bloom_cache_scan($cursor), bloom_cache_pop_oldest(), bloom_cache_has('k0'));
// A value is no false positive, nor is an exception.
bloom_fetch('f', 'k3', fn () => 'value');
echo thrown_by(fn () => bloom_fetch('f', 'k4', fn () => throw new LogicException('thrown by the loader'))), "\n";
var_dump(bloom_fetch('f', 'k4', fn () => 'loaded after all'), bloom_info('f')['false_positives']);
// A set that is published anew begins at 0 or goes on, but questions of it count.
bloom_load('f', keys('k', 10));
$before = bloom_info('f')['false_positives'];
bloom_fetch('f', 'k5', $nothing);
var_dump(bloom_info('f')['false_positives'] - $before);
done();
?>
--EXPECT--
int(3)
int(3)
NULL
array(0) {
}
NULL
bool(false)
LogicException: thrown by the loader
string(16) "loaded after all"
int(3)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

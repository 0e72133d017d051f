--TEST--
bloom_fetch(): a remembered null is not of a filter that was renamed away, and back after an add
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_null_renamed.seg
bloomshm.filter_memory=4M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$kinds = [
    'fixed' => fn ($name) => bloom_reserve($name, 1000, expansion: 0),
    'growing' => fn ($name) => bloom_reserve($name, 1000),
    'sliding' => fn ($name) => bloom_reserve($name, 1000, window: 36_000_000),
    'counting' => fn ($name) => bloom_reserve($name, 1000, counting: true),
];
foreach ($kinds as $kind => $make) {
    // Entries that were never used have the same small numbers of publications: x gets a new one each time, for
    // another filter takes the one that it leaves.
    $x = "x $kind";
    $make($x);
    bloom_add($x, 'k');
    check_same(null, bloom_fetch($x, 'k', fn () => null), "$kind: the backend does not know it");
    check_same(null, bloom_fetch($x, 'k', fn () => 'asked'), "$kind: it is remembered");
    bloom_rename($x, 'staging');
    $make("other $kind");
    bloom_add('staging', 'k');
    bloom_rename('staging', $x);
    check_same('found', bloom_fetch($x, 'k', fn () => 'found'), "$kind: asked again");
    $make("one more $kind"); // where staging was
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

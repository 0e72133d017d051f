--TEST--
bloom_dump() and bloom_restore(): every kind there and back
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/dump.seg
bloomshm.filter_memory=8M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('fixed', keys('k', 5000), expansion: 0);
bloom_insert('growing', keys('k', 20000));
bloom_reserve('sliding', 5000, window: 36_000_000);
bloom_add_many('sliding', keys('k', 5000));
bloom_load('counting', [...keys('k', 5000), 'k7'], counting: true);
/* At least 2: by chance another key may have the same counters. */
$count = bloom_count('counting', 'k7');
foreach (['fixed', 'growing', 'sliding', 'counting'] as $name) {
    $before = bloom_info($name);
    $bytes = bloom_dump($name, scratch());
    clearstatcache();
    check_same(filesize(scratch()), $bytes, 'bytes');
    if (PHP_OS_FAMILY !== 'Windows') { // there fileperms() does not know who may read
        check_same(0600, fileperms(scratch()) & 0777, 'mode');
    }
    var_dump(bloom_restore('copy', scratch()));
    $after = bloom_info('copy');
    foreach (['type', 'items', 'capacity', 'error_rate', 'window', 'expansion', 'bytes', 'layers', 'fill'] as $key) {
        check_same($before[$key], $after[$key], "$name: $key");
    }
    check_same(0, count_no('copy', keys('k', 5000)), "$name: denied");
    check_same(count_yes($name, keys('absent', 50000)), count_yes('copy', keys('absent', 50000)), "$name: wrong");
    bloom_drop($name);
    bloom_restore($name, scratch());
    check_same(0, count_no($name, keys('k', 5000)), "$name: denied");
}
check_same($count, bloom_count('counting', 'k7'), 'count');
var_dump($count >= 2, bloom_verify(), glob(scratch() . '.*'));
done();
?>
--EXPECTF--
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
array(0) {
}
array(0) {
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

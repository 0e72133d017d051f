--TEST--
A counting filter has a capacity, for all keys of a call or none; removals give it back
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/counting_full_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 1000, 0.0001, counting: true, seed: 'fixed');
check_same(990, bloom_add_many('f', keys('k', 990)), 'new');
show_thrown(
    fn () => bloom_add_many('f', keys('many ', 11)),
    fn () => bloom_insert('f', keys('many ', 11)),
);
check_same(0, count_yes('f', keys('many ', 11)), 'added');
check_same(990, bloom_info('f')['items'], 'items');
check_same(10, bloom_add_many('f', keys('k', 1000)), 'new');
// Full. What is there can be added: it is counted once more.
show_thrown(
    fn () => bloom_add('f', 'one too many'),
    fn () => bloom_add('f', 'k995'),
    fn () => bloom_count('f', 'k995'),
    fn () => bloom_add_many('f', ['k995', 'k1']),
    fn () => bloom_count('f', 'k995'),
    fn () => bloom_remove('f', 'k995'),
    fn () => bloom_add('f', 'one too many'),
);
// Only with its last add does a key give its place back.
bloom_remove('f', 'k995');
show_thrown(fn () => bloom_add('f', 'one too many'));
bloom_remove('f', 'k995');
var_dump(bloom_info('f')['items'], bloom_add('f', 'one too many'), bloom_info('f')['items']);
show_thrown(fn () => bloom_add('f', 'another'));
check_same(0, count_no('f', ['one too many', ...array_diff(keys('k', 1000), ['k995'])]), 'denied');
done();
?>
--EXPECTF--
BloomShm\Exception FULL: filter "f" is full: %s 1001 %s 1000 %s
BloomShm\Exception FULL: filter "f" is full: %s 1001 %s 1000 %s
BloomShm\Exception FULL: filter "f" is full: %s 1001 %s 1000 %s
nothing thrown, returned false
nothing thrown, returned 2
nothing thrown, returned 0
nothing thrown, returned 3
nothing thrown, returned true
BloomShm\Exception FULL: filter "f" is full: %s 1001 %s 1000 %s
BloomShm\Exception FULL: filter "f" is full: %s 1001 %s 1000 %s
int(999)
bool(true)
int(1000)
BloomShm\Exception FULL: filter "f" is full: %s 1001 %s 1000 %s
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

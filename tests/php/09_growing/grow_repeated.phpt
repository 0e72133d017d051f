--TEST--
Keys that are there make no filter grow, and are not counted again
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/grow_repeated.seg
bloomshm.filter_memory=2M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 100, seed: 'fixed');
$keys = keys('k', 3300);
$new = bloom_add_many('f', $keys);
$before = bloom_info('f');
for ($i = 0; $i < 20; $i++) {
    check_same(0, bloom_add_many('f', $keys), 'new again');
    check_same(false, bloom_add('f', 'k77'), 'k77 is new again');
}
check_same($before, bloom_info('f'), 'bloom_info()');
var_dump($new > 3290, count($before['layers']));

// The same with layers: a key of an older one is not put into the newest.
$new += bloom_add_many('f', keys('more ', 30000));
$before = bloom_info('f');
check(count($before['layers']) > 2, count($before['layers']) . ' layers');
check_same($new, $before['items'], 'items');
check_same(0, bloom_add_many('f', $keys), 'new again');
check_same(array_fill(0, 3300, false), bloom_insert('f', $keys), 'new again for bloom_insert()');
check_same($before, bloom_info('f'), 'bloom_info()');
done();
?>
--EXPECT--
bool(true)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_insert() beyond the capacity of a filter that does not grow adds none of the keys
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/insert_full_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

show_thrown(fn () => bloom_insert('f', keys('k', 1001), 1000, 0.0001, 0));
// It was made before that was known, and it is empty.
var_dump(bloom_info('f')['items'], bloom_info('f')['fill'], count_yes('f', keys('k', 1001)));
var_dump(count(array_filter(bloom_insert('f', keys('k', 990), 1000, 0.0001, 0))));
$before = bloom_info('f');
show_thrown(
    fn () => bloom_insert('f', [...keys('k', 990), ...keys('more ', 11)]),
    fn () => bloom_insert('f', (fn () => yield from keys('more ', 11))()),
    fn () => bloom_insert('f', keys('more ', 11), create: false),
);
check_same($before, bloom_info('f'), 'bloom_info()');
check_same(0, count_yes('f', keys('more ', 11)), 'added');
// A key that is offered twice takes one place; one that is there takes none.
$answers = bloom_insert('f', [...keys('more ', 10), ...keys('k', 990), ...keys('more ', 10)]);
check_same([...array_fill(0, 10, true), ...array_fill(0, 1000, false)], $answers, 'answers');
check_same(1000, bloom_info('f')['items'], 'items');
check_same(array_fill(0, 990, false), bloom_insert('f', keys('k', 990)), 'answers of a full filter');
show_thrown(fn () => bloom_insert('f', ['one too many']), fn () => bloom_insert('f', []));
done();
?>
--EXPECTF--
BloomShm\Exception FULL: filter "f" is full: %s 1001 %s 1000 %s
int(0)
float(0)
int(0)
int(990)
BloomShm\Exception FULL: filter "f" is full: %s 1001 %s 1000 %s
BloomShm\Exception FULL: filter "f" is full: %s 1001 %s 1000 %s
BloomShm\Exception FULL: filter "f" is full: %s 1001 %s 1000 %s
BloomShm\Exception FULL: filter "f" is full: %s 1001 %s 1000 %s
nothing thrown, returned []
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

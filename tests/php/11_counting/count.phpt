--TEST--
Counting: add, count, remove, and the capacity that comes back
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/count.seg
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_reserve('c', 3, counting: true), bloom_reserve('c', 3, 0.01, 0, counting: true), bloom_info('c')['type']);
var_dump(bloom_count('c', 'a'), bloom_remove('c', 'a'));
for ($i = 1; $i <= 20; $i++) {
    check_same($i === 1, bloom_add('c', 'a'), 'new');
    check_same(min($i, 15), bloom_count('c', 'a'), 'count');
}
var_dump(bloom_remove('c', 'a'), bloom_count('c', 'a'));
var_dump(bloom_add_many('c', ['b', 'c', 'b']), bloom_count('c', 'b'), bloom_info('c')['items']);
show_thrown(fn () => bloom_add('c', 'd'), fn () => bloom_add_many('c', ['b', 'd']));
var_dump(bloom_add('c', 'b'), bloom_count('c', 'b'), bloom_maybe_has('c', 'd'));
var_dump(bloom_remove('c', 'c'), bloom_maybe_has('c', 'c'), bloom_add('c', 'd'), bloom_info('c')['items']);
var_dump(bloom_clear('c'), bloom_count('c', 'a'), bloom_verify());
done();
?>
--EXPECTF--
bool(true)
bool(false)
string(8) "counting"
int(0)
bool(false)
bool(true)
int(15)
int(2)
int(2)
int(3)
BloomShm\Exception FULL: filter "c" is full: it would hold 4 keys, its capacity is 3 and it does not grow (expansion 0)
BloomShm\Exception FULL: filter "c" is full: it would hold 4 keys, its capacity is 3 and it does not grow (expansion 0)
bool(false)
int(3)
bool(false)
bool(true)
bool(false)
bool(true)
int(3)
bool(true)
int(0)
array(0) {
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

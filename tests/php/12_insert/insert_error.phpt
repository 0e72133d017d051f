--TEST--
bloom_insert(): what is missing, full or no key
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/insert_error.seg
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

show_thrown(
    fn () => bloom_insert('f', ['a'], create: false),
    fn () => bloom_insert('f', ['a'], 0),
    fn () => bloom_insert('f', ['a'], 10, 0.6),
    fn () => bloom_insert('f', ['a'], 10, 0.01, 1),
    fn () => bloom_insert('f', ['a', null]),
    fn () => bloom_insert('f', (function () { yield 'a'; throw new LogicException('mine'); })()),
);
var_dump(bloom_list());
bloom_insert('f', ['a', 'b'], 3, 0.000001, 0);
show_thrown(fn () => bloom_insert('f', ['a', 'c', 'd'], 3, 0.000001, 0));
var_dump(bloom_maybe_has('f', 'c'), bloom_info('f')['items']);
echo json_encode(bloom_insert('f', ['a', 'c', 'c'], 3, 0.000001, 0)), "\n";
done();
?>
--EXPECTF--
BloomShm\Exception NOT_FOUND: filter "f" is not published: there is no segment yet at %s
ValueError: bloom_insert(): Argument #3 ($capacity) must be between 1 and 1099511627776, 0 given
ValueError: bloom_insert(): Argument #4 ($error_rate) must be greater than 0 and at most 0.5, 0.6 given
ValueError: bloom_insert(): Argument #5 ($expansion) must be 0, or between 2 and 32, 1 given
TypeError: bloom_insert(): Argument #2 ($keys) must contain only string, int, float, row or Stringable, null given at element 1
LogicException: mine
array(0) {
}
BloomShm\Exception FULL: filter "f" is full: it would hold 4 keys, its capacity is 3 and it does not grow (expansion 0)
bool(false)
int(2)
[false,true,false]
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

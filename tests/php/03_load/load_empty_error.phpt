--TEST--
A load that was offered no key throws EMPTY and publishes nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_empty_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['stands']);
$free = free_bytes();
show_thrown(
    fn () => bloom_load('f', []),
    fn () => bloom_load('f', new EmptyIterator()),
    fn () => bloom_load('f', (fn () => yield from [])()),
    fn () => bloom_load('f', [], capacity: 1000),
    fn () => bloom_load('g', []),
);
var_dump(bloom_list(), bloom_maybe_has('f', 'stands'), bloom_maybe_has('f', 'a'), bloom_maybe_has('g', 'a'));
check_same($free, free_bytes(), 'free bytes');
done();
?>
--EXPECTF--
BloomShm\Exception EMPTY: %s
BloomShm\Exception EMPTY: %s
BloomShm\Exception EMPTY: %s
BloomShm\Exception EMPTY: %s
BloomShm\Exception EMPTY: %s
array(1) {
  [0]=>
  string(1) "f"
}
bool(true)
bool(false)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloomshm.readonly with no segment: all is maybe, changes throw READ_ONLY
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/readonly_first.seg
bloomshm.filter_memory=1M
bloomshm.readonly=1
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_maybe_has('f', 'a'), bloom_maybe_has_many('f', ['a']), bloom_list());
show_thrown(
    fn () => bloom_reserve('f', 10, expansion: 0),
    fn () => bloom_load('f', ['a']),
    fn () => bloom_drop('f'),
    fn () => bloom_add('f', 'a'),
);
?>
--EXPECTF--
bool(true)
array(1) {
  [0]=>
  bool(true)
}
array(0) {
}
BloomShm\Exception READ_ONLY: %s
BloomShm\Exception READ_ONLY: %s
BloomShm\Exception READ_ONLY: %s
BloomShm\Exception READ_ONLY: %s
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

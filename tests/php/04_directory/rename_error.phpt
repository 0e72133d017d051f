--TEST--
bloom_rename() of a missing filter throws NOT_FOUND and leaves the target alone
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/rename_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('to', ['a']);
show_thrown(
    fn () => bloom_rename('missing', 'to'),
    fn () => bloom_rename('missing', 'missing'),
    fn () => bloom_rename('missing', 'new'),
);
var_dump(bloom_list(), bloom_maybe_has('to', 'a'), bloom_maybe_has('to', 'x'));
done();
?>
--EXPECTF--
BloomShm\Exception NOT_FOUND: %smissing%s
BloomShm\Exception NOT_FOUND: %smissing%s
BloomShm\Exception NOT_FOUND: %smissing%s
array(1) {
  [0]=>
  string(2) "to"
}
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

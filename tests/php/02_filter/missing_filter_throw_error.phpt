--TEST--
bloomshm.missing_filter=throw: questions and adds throw NOT_FOUND, the rest stays quiet
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/missing_filter_throw_error.seg
bloomshm.filter_memory=1M
bloomshm.missing_filter=throw
--FILE--
<?php
require __DIR__ . '/../helper.inc';

show_thrown(
    fn () => bloom_maybe_has('missing', 'a'),
    fn () => bloom_maybe_has_many('missing', ['a']),
    fn () => bloom_add('missing', 'a'),
    fn () => bloom_add_many('missing', ['a']),
    fn () => bloom_drop('missing'),
    fn () => bloom_clear('missing'),
    fn () => bloom_ready('missing'),
    fn () => bloom_info('missing'),
    fn () => bloom_list(),
);
bloom_load('f', ['a']);
var_dump(bloom_maybe_has('f', 'a'), bloom_maybe_has('f', 'b'), bloom_list());
done();
?>
--EXPECTF--
BloomShm\Exception NOT_FOUND: %smissing%s
BloomShm\Exception NOT_FOUND: %smissing%s
BloomShm\Exception NOT_FOUND: %smissing%s
BloomShm\Exception NOT_FOUND: %smissing%s
nothing thrown, returned false
nothing thrown, returned false
nothing thrown, returned false
nothing thrown, returned null
nothing thrown, returned []
bool(true)
bool(false)
array(1) {
  [0]=>
  string(1) "f"
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloomshm.missing_filter=warn: one warning per request and filter, and still maybe
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/missing_filter_warn.seg
bloomshm.filter_memory=1M
bloomshm.missing_filter=warn
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_maybe_has('one', 'a'));
var_dump(bloom_maybe_has('one', 'b'), bloom_maybe_has_many('one', ['c']), bloom_add('one', 'd'), bloom_add_many('one', ['e']));
var_dump(bloom_maybe_has_many('two', ['a']));
var_dump(bloom_maybe_has('two', 'b'));
var_dump(bloom_add('three', 'a'));
var_dump(bloom_maybe_has('three', 'b'));
var_dump(bloom_maybe_has('one', 'f'));
// Quiet ones.
var_dump(bloom_drop('four'), bloom_clear('four'), bloom_ready('four'), bloom_info('four'));
done();
?>
--EXPECTF--
Warning: bloom_maybe_has(): %sone%s in %s on line %d
bool(true)
bool(true)
array(1) {
  [0]=>
  bool(true)
}
bool(false)
int(0)

Warning: bloom_maybe_has_many(): %stwo%s in %s on line %d
array(1) {
  [0]=>
  bool(true)
}
bool(true)

Warning: bloom_add(): %sthree%s in %s on line %d
bool(false)
bool(true)
bool(true)
bool(false)
bool(false)
bool(false)
NULL
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

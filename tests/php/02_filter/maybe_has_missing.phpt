--TEST--
A missing filter says maybe, and the answers are counted per key
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/maybe_has_missing.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_status()['missing_answers']);
var_dump(bloom_maybe_has('missing', 'a'), bloom_maybe_has_many('missing', ['x' => 'a', 'b']));
var_dump(bloom_status()['missing_answers']);
bloom_maybe_has_many('missing too', keys('k', 97));
bloom_maybe_has_many('missing', []);
var_dump(bloom_status()['missing_answers']);
// Quiet questions and answers of a filter that stands do not count.
bloom_ready('missing');
bloom_info('missing');
bloom_load('f', ['a']);
bloom_maybe_has('f', 'a');
bloom_maybe_has('f', 'b');
var_dump(bloom_status()['missing_answers']);
done();
?>
--EXPECT--
int(0)
bool(true)
array(2) {
  ["x"]=>
  bool(true)
  [0]=>
  bool(true)
}
int(3)
int(100)
int(100)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

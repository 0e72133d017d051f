--TEST--
Any byte string is a key, and 123 is "123"
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/keys.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 1000, expansion: 0);
$keys = ['', "\0", "\0\0", "a\0b", "a\0c", "\xff\xfe", 'ツーリング', str_repeat('x', 1 << 20), str_repeat('x', (1 << 20) + 1), ' ', "\n", '0'];
foreach ($keys as $i => $key) {
    check(!bloom_maybe_has('f', $key), "key $i is not there yet");
    check(bloom_add('f', $key), "key $i is new");
    check(!bloom_add('f', $key), "key $i is not new any more");
    check(bloom_maybe_has('f', $key), "key $i is there");
}
var_dump(count_no('f', $keys), bloom_maybe_has('f', 'a'), bloom_maybe_has('f', "\0\0\0"));

bloom_add('f', 123);
bloom_add('f', 1.5);
bloom_add('f', PHP_INT_MIN);
var_dump(bloom_maybe_has_many('f', ['123', 123, 123.0, '1.5', 1.5, (string) PHP_INT_MIN, '0123', '123.0', '+123']));
done();
?>
--EXPECT--
int(0)
bool(false)
bool(false)
array(9) {
  [0]=>
  bool(true)
  [1]=>
  bool(true)
  [2]=>
  bool(true)
  [3]=>
  bool(true)
  [4]=>
  bool(true)
  [5]=>
  bool(true)
  [6]=>
  bool(false)
  [7]=>
  bool(false)
  [8]=>
  bool(false)
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

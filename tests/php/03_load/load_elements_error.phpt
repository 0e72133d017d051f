--TEST--
bloom_load() names the element that is no key, and publishes nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_elements_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['stands']);
$free = free_bytes();
foreach ([null, true, false, new stdClass(), [], [null], [null, 'b'], [['a']], [true], fn () => 'a'] as $bad) {
    $keys = keys('k', 20);
    $keys[17] = $bad;
    show_thrown(
        fn () => bloom_load('f', $keys),
        fn () => bloom_load('g', (fn () => yield from $keys)()),
    );
}
var_dump(bloom_list(), bloom_maybe_has_many('f', ['stands', 'k1']));
check_same($free, free_bytes(), 'free bytes');
done();
?>
--EXPECTF--
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
TypeError: bloom_load(): Argument #2 ($keys) %s17%S
array(1) {
  [0]=>
  string(1) "f"
}
array(2) {
  [0]=>
  bool(true)
  [1]=>
  bool(false)
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_add_many() names the element that is no key, and has then added nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/add_many_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 1000, expansion: 0);
foreach ([null, true, new stdClass(), [], [null], [['a']], [false], fopen('php://memory', 'r'), fn () => 'a'] as $bad) {
    $keys = keys('k', 20);
    $keys[17] = $bad;
    show_thrown(fn () => bloom_add_many('f', $keys));
}
show_thrown(fn () => bloom_add_many('f', 'a'));
var_dump(bloom_info('f')['items'], count_yes('f', keys('k', 20)));
done();
?>
--EXPECTF--
TypeError: bloom_add_many(): Argument #2 ($keys) %s17%S
TypeError: bloom_add_many(): Argument #2 ($keys) %s17%S
TypeError: bloom_add_many(): Argument #2 ($keys) %s17%S
TypeError: bloom_add_many(): Argument #2 ($keys) %s17%S
TypeError: bloom_add_many(): Argument #2 ($keys) %s17%S
TypeError: bloom_add_many(): Argument #2 ($keys) %s17%S
TypeError: bloom_add_many(): Argument #2 ($keys) %s17%S
TypeError: bloom_add_many(): Argument #2 ($keys) %s17%S
TypeError: bloom_add_many(): Argument #2 ($keys) %s17%S
TypeError: bloom_add_many(): Argument #2 ($keys) must be of type %s, string given
int(0)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

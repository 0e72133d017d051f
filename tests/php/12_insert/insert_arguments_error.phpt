--TEST--
bloom_insert() checks its arguments always, also those that an existing filter does not need
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/insert_arguments_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('stands', 100);
foreach (['stands', 'missing'] as $name) {
    show_thrown(
        fn () => bloom_insert($name, ['a'], 0),
        fn () => bloom_insert($name, ['a'], -1),
        fn () => bloom_insert($name, ['a'], 2 ** 40 + 1),
        fn () => bloom_insert($name, ['a'], error_rate: 0.0),
        fn () => bloom_insert($name, ['a'], error_rate: 0.51),
        fn () => bloom_insert($name, ['a'], error_rate: NAN),
        fn () => bloom_insert($name, ['a'], expansion: 1),
        fn () => bloom_insert($name, ['a'], expansion: 33),
        fn () => bloom_insert($name, ['a'], expansion: -1),
        fn () => bloom_insert($name, ['a'], 0, create: false),
    );
}
show_thrown(fn () => bloom_insert('', ['a']), fn () => bloom_insert("f\0", ['a']));
var_dump(bloom_list(), bloom_info('stands')['items']);
done();
?>
--EXPECTF--
ValueError: bloom_insert(): Argument #3 ($capacity) must be between 1 and 1099511627776%S
ValueError: bloom_insert(): Argument #3 ($capacity) must be between 1 and 1099511627776%S
ValueError: bloom_insert(): Argument #3 ($capacity) must be between 1 and 1099511627776%S
ValueError: bloom_insert(): Argument #4 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_insert(): Argument #4 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_insert(): Argument #4 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_insert(): Argument #5 ($expansion) must be %S0%sbetween 2 and 32%S
ValueError: bloom_insert(): Argument #5 ($expansion) must be %S0%sbetween 2 and 32%S
ValueError: bloom_insert(): Argument #5 ($expansion) must be %S0%sbetween 2 and 32%S
ValueError: bloom_insert(): Argument #3 ($capacity) must be between 1 and 1099511627776%S
ValueError: bloom_insert(): Argument #3 ($capacity) must be between 1 and 1099511627776%S
ValueError: bloom_insert(): Argument #3 ($capacity) must be between 1 and 1099511627776%S
ValueError: bloom_insert(): Argument #3 ($capacity) must be between 1 and 1099511627776%S
ValueError: bloom_insert(): Argument #4 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_insert(): Argument #4 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_insert(): Argument #4 ($error_rate) must be %s 0%s0.5%S
ValueError: bloom_insert(): Argument #5 ($expansion) must be %S0%sbetween 2 and 32%S
ValueError: bloom_insert(): Argument #5 ($expansion) must be %S0%sbetween 2 and 32%S
ValueError: bloom_insert(): Argument #5 ($expansion) must be %S0%sbetween 2 and 32%S
ValueError: bloom_insert(): Argument #3 ($capacity) must be between 1 and 1099511627776%S
ValueError: bloom_insert(): Argument #1 ($filter) must be %s
ValueError: bloom_insert(): Argument #1 ($filter) must be %s
array(1) {
  [0]=>
  string(6) "stands"
}
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

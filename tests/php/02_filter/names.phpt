--TEST--
A filter name is 1 to 63 bytes of anything but NUL
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/names.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach (['f', str_repeat('n', 63), '日本語', 'a b', "\xff", '../x', '0', "new\nline"] as $name) {
    check(bloom_reserve($name, 10, expansion: 0), "$name is reserved");
    check(bloom_add($name, "key of $name"), "$name takes a key");
    check(bloom_maybe_has($name, "key of $name"), "$name has it");
    check(!bloom_maybe_has($name, 'another'), "$name denies another");
    check_same($name, bloom_info($name)['name'], 'name');
}
// One byte longer or shorter is another filter.
var_dump(bloom_ready(str_repeat('n', 62)), bloom_ready('日本'), count(bloom_list()));
done();
?>
--EXPECT--
bool(false)
bool(false)
int(8)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

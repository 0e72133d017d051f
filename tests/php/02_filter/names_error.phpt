--TEST--
A filter name that is empty, too long or has a NUL is refused by every function
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/names_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$calls = [
    fn ($name) => bloom_reserve($name, 10, expansion: 0),
    fn ($name) => bloom_add($name, 'a'),
    fn ($name) => bloom_add_many($name, ['a']),
    fn ($name) => bloom_insert($name, ['a']),
    fn ($name) => bloom_remove($name, 'a'),
    fn ($name) => bloom_count($name, 'a'),
    fn ($name) => bloom_maybe_has($name, 'a'),
    fn ($name) => bloom_maybe_has_many($name, ['a']),
    fn ($name) => bloom_load($name, ['a']),
    fn ($name) => bloom_load_file($name, __FILE__),
    fn ($name) => bloom_drop($name),
    fn ($name) => bloom_clear($name),
    fn ($name) => bloom_rename($name, 'g'),
    fn ($name) => bloom_copy($name, 'g'),
    fn ($name) => bloom_merge($name, 'g'),
    fn ($name) => bloom_dump($name, scratch()),
    fn ($name) => bloom_restore($name, scratch()),
    fn ($name) => bloom_ready($name),
    fn ($name) => bloom_info($name),
    fn ($name) => bloom_rename('f', $name),
    fn ($name) => bloom_copy('f', $name),
    fn ($name) => bloom_merge('f', $name),
    fn ($name) => bloom_merge('f', 'f', $name),
];
bloom_reserve('f', 10, expansion: 0);
foreach ($calls as $call) {
    $messages = array_map(fn ($name) => thrown_by(fn () => $call($name)), ['', str_repeat('n', 64), "f\0", str_repeat('n', 5000)]);
    check(count(array_unique(array_map(fn ($message) => strstr($message, ')', true), $messages))) === 1, implode(' / ', $messages));
    echo $messages[1], "\n";
}
var_dump(bloom_list());
done();
?>
--EXPECTF--
ValueError: bloom_reserve(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_add(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_add_many(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_insert(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_remove(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_count(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_maybe_has(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_maybe_has_many(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_load(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_load_file(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_drop(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_clear(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_rename(): Argument #1 ($from) must be %s1 %s63 bytes%S
ValueError: bloom_copy(): Argument #1 ($from) must be %s1 %s63 bytes%S
ValueError: bloom_merge(): Argument #1 ($into) must be %s1 %s63 bytes%S
ValueError: bloom_dump(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_restore(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_ready(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_info(): Argument #1 ($filter) must be %s1 %s63 bytes%S
ValueError: bloom_rename(): Argument #2 ($to) must be %s1 %s63 bytes%S
ValueError: bloom_copy(): Argument #2 ($to) must be %s1 %s63 bytes%S
ValueError: bloom_merge(): Argument #2 must be %s1 %s63 bytes%S
ValueError: bloom_merge(): Argument #3 must be %s1 %s63 bytes%S
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

--TEST--
The file removed under attached processes: they go on; the next ones make a new one
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/removed_file.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a']);
unlink(segment());
var_dump(bloom_maybe_has('f', 'a'), bloom_maybe_has('f', 'x'), bloom_add('f', 'b'), bloom_maybe_has('f', 'b'));
echo Child::run('var_dump(bloom_list(), bloom_maybe_has("f", "x"), bloom_reserve("g", 10, expansion: 0));');
var_dump(file_exists(segment()));
done();
?>
--EXPECT--
bool(true)
bool(false)
bool(true)
bool(true)
array(0) {
}
bool(true)
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

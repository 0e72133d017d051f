--TEST--
A first load that fails leaves the name missing, and missing is maybe
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_first_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$free = free_bytes();
show_thrown(fn () => bloom_load('f', (function () {
    yield 'a';
    throw new LogicException('the query failed');
})()));
var_dump(bloom_maybe_has('f', 'b'), bloom_ready('f'), bloom_list(), free_bytes() === $free);
done();
?>
--EXPECT--
LogicException: the query failed
bool(true)
bool(false)
array(0) {
}
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

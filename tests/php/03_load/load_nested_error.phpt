--TEST--
An exception out of nested loads takes them all back
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_nested_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('a', ['old']);
$free = free_bytes();
$nest = function (int $depth) use (&$nest) {
    yield "at $depth";
    if ($depth === 0) {
        throw new LogicException('from the innermost');
    }
    bloom_load("level $depth", $nest($depth - 1));
};
show_thrown(fn () => bloom_load('a', $nest(8)));
var_dump(bloom_list(), bloom_maybe_has('a', 'old'), free_bytes() === $free);
done();
?>
--EXPECT--
LogicException: from the innermost
array(1) {
  [0]=>
  string(1) "a"
}
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

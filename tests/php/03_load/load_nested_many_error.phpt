--TEST--
More loads at once than can be: an exception, and all is given back
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_nested_many_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['old']);
$free = free_bytes();
$depths = 0;
$nest = function (int $depth) use (&$nest, &$depths) {
    yield "at $depth";
    $depths++;
    if ($depth < 500) {
        bloom_load('f', $nest($depth + 1));
    }
};
$thrown = thrown_by(fn () => bloom_load('f', $nest(0)));
check($depths >= 16, "$depths at once");
check(str_starts_with($thrown, 'BloomShm\\Exception NO_SPACE: ') || $depths === 501, $thrown);
var_dump(bloom_maybe_has('f', 'absent'), bloom_ready('f'), free_bytes() === $free, bloom_load('g', ['a'])['keys']);
done();
?>
--EXPECT--
bool(false)
bool(true)
bool(true)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

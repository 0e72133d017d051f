--TEST--
A load inside the generator of another: both are published
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_nested.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$free = free_bytes();
bloom_load('outer', (function () {
    yield from keys('outer ', 1000);
    bloom_load('inner', (function () {
        yield from keys('inner ', 1000);
        bloom_load('innermost', keys('innermost ', 1000));
        bloom_add('outer', 'added to outer');
        bloom_add('inner', 'added to inner');
        yield 'last inner';
    })(), seed: 'fixed');
    check(bloom_maybe_has('inner', 'last inner') && !bloom_maybe_has('inner', 'absent'), 'inner stands already');
    yield 'last outer';
})());
var_dump(bloom_list());
var_dump(count_no('outer', [...keys('outer ', 1000), 'added to outer', 'last outer']));
var_dump(count_no('inner', [...keys('inner ', 1000), 'added to inner', 'last inner']));
var_dump(count_no('innermost', keys('innermost ', 1000)));
array_map(bloom_drop(...), bloom_list());
check_same($free, free_bytes(), 'free bytes');
done();
?>
--EXPECT--
array(3) {
  [0]=>
  string(5) "inner"
  [1]=>
  string(9) "innermost"
  [2]=>
  string(5) "outer"
}
int(0)
int(0)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

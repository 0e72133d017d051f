--TEST--
bloom_add_many() counts the keys that were certainly new
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/add_many.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 1000, expansion: 0);
var_dump(bloom_add_many('f', ['a', 'b', 'c']));
var_dump(bloom_add_many('f', ['c', 'd', 'd', 'e']));
var_dump(bloom_add_many('f', []));
var_dump(bloom_add_many('f', new ArrayIterator(['f', 'g'])));
var_dump(bloom_add_many('f', (function () {
    yield 'same array key' => 'h';
    yield 'same array key' => 'i';
    yield 'h';
})()));
var_dump(bloom_info('f')['items'], count_no('f', range('a', 'i')), count_yes('f', range('j', 'z')));
done();
?>
--EXPECT--
int(3)
int(2)
int(0)
int(2)
int(2)
int(9)
int(0)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
A load of the same name inside its own generator: each publishes a whole set, the later stands
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_nested_same.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$free = free_bytes();
$inner = null;
bloom_load('f', (function () use (&$inner) {
    yield from keys('outer ', 100);
    bloom_load('f', keys('inner ', 100), 0.000001);
    $inner = [count_no('f', keys('inner ', 100)), count_yes('f', keys('outer ', 100))];
    bloom_add('f', 'added');
    yield 'last';
})(), 0.000001);
var_dump($inner === [0, 0], count_no('f', [...keys('outer ', 100), 'last', 'added']), count_yes('f', keys('inner ', 100)));
bloom_drop('f');
check_same($free, free_bytes(), 'free bytes');
done();
?>
--EXPECT--
bool(true)
int(0)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

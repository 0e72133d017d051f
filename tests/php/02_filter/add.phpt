--TEST--
bloom_add() tells whether the key was certainly not there
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/add.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 100, expansion: 0);
var_dump(bloom_add('f', 'a'), bloom_add('f', 'a'), bloom_maybe_has('f', 'a'), bloom_info('f')['items']);
done();
?>
--EXPECT--
bool(true)
bool(false)
bool(true)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

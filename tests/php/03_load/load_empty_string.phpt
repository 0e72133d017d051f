--TEST--
An empty string is a key: a load of it is not empty
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_empty_string.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_load('f', [''])['keys'], bloom_maybe_has('f', ''), bloom_maybe_has('f', 'a'));
done();
?>
--EXPECT--
int(1)
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

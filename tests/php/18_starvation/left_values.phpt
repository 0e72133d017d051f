--TEST--
Exceptions, exit(), memory_limit, time limit and fatal errors wherever values are serialized, read, loaded and let go
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/left_values.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--SKIPIF--
<?php
if (getenv('USE_ZEND_ALLOC') === '0') { die('skip needs the memory manager of PHP'); }
?>
--FILE--
<?php
require __DIR__ . '/values.inc';

test_values([]);
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

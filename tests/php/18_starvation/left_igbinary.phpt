--TEST--
The same with values that igbinary serializes and reads
--EXTENSIONS--
bloomshm
igbinary
posix
pcntl
--INI--
bloomshm.path={PWD}/left_igbinary.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
bloomshm.serializer=igbinary
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

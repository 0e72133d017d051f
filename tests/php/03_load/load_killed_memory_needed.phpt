--TEST--
The memory of a killed loader is there for the next one who needs it, without bloom_status()
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_killed_memory_needed.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// Two of this size do not fit.
$capacity = intdiv(free_bytes() * 6, 10);
$loader = new Child("bloom_load('f', (function () { yield 'a'; echo \"half\\n\"; fgets(STDIN); })(), capacity: $capacity);");
check_same('half', $loader->hear(), 'the loader');
$loader->kill();
var_dump(bloom_reserve('g', $capacity, expansion: 0));
done();
?>
--EXPECT--
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

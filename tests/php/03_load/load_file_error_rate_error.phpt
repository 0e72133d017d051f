--TEST--
bloom_load_file() above max_error_rate throws ERROR_RATE and publishes nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_error_rate_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

file_put_contents(scratch(), implode("\n", keys('k', 20000)));
bloom_load('f', ['stands']);
show_thrown(fn () => bloom_load_file('f', scratch(), 0.01, max_error_rate: 1e-6));
var_dump(bloom_maybe_has_many('f', ['stands', 'absent']) === [true, false]);
done();
?>
--EXPECTF--
BloomShm\Exception ERROR_RATE: %s
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

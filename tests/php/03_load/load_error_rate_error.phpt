--TEST--
A load whose measured rate is above max_error_rate throws ERROR_RATE and publishes nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_error_rate_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['stands']);
$free = free_bytes();
show_thrown(
    fn () => bloom_load('f', keys('k', 20000), 0.01, max_error_rate: 1e-6),
    fn () => bloom_load('g', keys('k', 20000), 0.1, null, 1e-9),
);
var_dump(bloom_list(), bloom_maybe_has('f', 'stands'), count_yes('f', keys('k', 100)));
check_same($free, free_bytes(), 'free bytes');
// At the limits of the argument.
var_dump(bloom_load('f', ['a'], max_error_rate: 1.0)['keys'], bloom_load('f', ['a'], max_error_rate: 1e-12)['keys']);
done();
?>
--EXPECTF--
BloomShm\Exception ERROR_RATE: filter "f" would be wrong for %f of all absent keys, which is more than $max_error_rate, 1e-06; nothing was published
BloomShm\Exception ERROR_RATE: filter "g" would be wrong for %f of all absent keys, which is more than $max_error_rate, 1e-09; nothing was published
array(1) {
  [0]=>
  string(1) "f"
}
bool(true)
int(0)
int(1)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

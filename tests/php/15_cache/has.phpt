--TEST--
bloom_cache_has() tells whether a record is there, and does not count as a use
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/has.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_cache_set_many(['null' => null, 'false' => false, '' => '']);
var_dump(bloom_cache_has('null'), bloom_cache_has('false'), bloom_cache_has(''), bloom_cache_has('absent'));
$info = bloom_cache_info();
for ($i = 0; $i < 10; $i++) {
    bloom_cache_has('null');
    bloom_cache_has('absent');
}
check_same($info, bloom_cache_info(), 'info');
var_dump(bloom_cache_pop_oldest(), bloom_cache_has('null'));
done();
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(false)
array(2) {
  [0]=>
  string(4) "null"
  [1]=>
  NULL
}
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

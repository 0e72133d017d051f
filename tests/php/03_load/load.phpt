--TEST--
bloom_load() publishes a filter of the keys and returns its info
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$info = bloom_load('articles', keys('k', 5000), seed: 'fixed');
var_dump($info['keys'], is_float($info['seconds']) && $info['seconds'] >= 0);
unset($info['keys'], $info['seconds']);
check_same(bloom_info('articles'), $info, 'the rest is bloom_info()');
var_dump(count_no('articles', keys('k', 5000)), bloom_ready('articles'), bloom_list());
check(count_yes('articles', keys('absent ', 20000)) < 400, 'it denies the absent');
done();
?>
--EXPECT--
int(5000)
bool(true)
int(0)
bool(true)
array(1) {
  [0]=>
  string(8) "articles"
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_cache_clear() removes all records, or those whose keys begin with a prefix
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/clear.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('k', 10));
$fetched = fn (): array => array_map(fn (string $key) => bloom_fetch('f', $key, fn () => 'asked again'), keys('k', 10));
foreach (keys('k', 10) as $key) {
    bloom_fetch('f', $key, fn () => 'fetched');
}
bloom_cache_set_many(array_fill_keys([...keys('a:', 1000), ...keys('b:', 1000), 'a', '', 'xa:1'], 1));
var_dump(bloom_cache_clear('absent'), bloom_cache_clear('a:1'), bloom_cache_clear('a:1'), bloom_cache_clear('a:'));
var_dump(bloom_cache_has('a'), bloom_cache_has('xa:1'), bloom_cache_has(''), bloom_cache_has('b:7'), bloom_cache_has('a:7'));
check_same(array_fill(0, 10, 'fetched'), $fetched(), 'records of bloom_fetch() have no such prefix');
// A prefix that is one of bloom_fetch's records inside.
var_dump(bloom_cache_clear("\1f"), bloom_cache_clear('f'), bloom_cache_clear('k'));
check_same(array_fill(0, 10, 'fetched'), $fetched(), 'nor another');
var_dump(bloom_cache_clear(), bloom_cache_info()['records'], bloom_cache_clear(), bloom_cache_has('b:7'));
check_same(array_fill(0, 10, 'asked again'), $fetched(), 'clear() removes them too');
// Filters stay.
var_dump(bloom_list(), count_no('f', keys('k', 10)));
bloom_cache_set('b:7', 'new');
var_dump(bloom_cache_get('b:7'));
done();
?>
--EXPECTF--
int(0)
int(111)
int(0)
int(889)
bool(true)
bool(true)
bool(true)
bool(true)
bool(false)
int(0)
int(0)
int(0)
int(%d)
int(0)
int(0)
bool(false)
array(1) {
  [0]=>
  string(1) "f"
}
int(0)
string(3) "new"
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

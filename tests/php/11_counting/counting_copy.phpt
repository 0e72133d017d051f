--TEST--
Copy, rename and clear of a counting filter: the counts go along, or away
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/counting_copy.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 1000, 0.001, counting: true, seed: 'fixed');
bloom_add_many('f', keys('k', 500));
bloom_add_many('f', keys('k', 100));
var_dump(bloom_copy('f', 'g'), bloom_rename('g', 'h'));
foreach (keys('k', 500) as $key) {
    check_same(bloom_count('f', $key), bloom_count('h', $key), $key);
}
var_dump(bloom_info('h')['items'] === bloom_info('f')['items'], bloom_count('h', 'k1'));
bloom_remove('h', 'k1');
var_dump(bloom_count('h', 'k1'), bloom_count('f', 'k1'));
var_dump(bloom_clear('f'), bloom_count('f', 'k1'), bloom_info('f')['items'], bloom_info('f')['fill'], bloom_count('h', 'k2'));
var_dump(bloom_add('f', 'k1'), bloom_count('f', 'k1'), bloom_info('f')['type']);
done();
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
int(2)
int(1)
int(2)
bool(true)
int(0)
int(0)
float(0)
int(2)
bool(true)
int(1)
string(8) "counting"
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_cache_add() stores only what is absent
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/add.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_cache_add('a', 1), bloom_cache_add('a', 2), bloom_cache_get('a'));
// A stored null or false is there.
foreach ([null, false, '', 0, []] as $value) {
    bloom_cache_set('b', $value);
    check_same(false, bloom_cache_add('b', 'new'), 'add over ' . json_encode($value));
    check_same($value, bloom_cache_get('b', 'default'), 'what was there');
}
bloom_cache_delete('b');
var_dump(bloom_cache_add('b', null), bloom_cache_get('b', 'default'), bloom_cache_add('b', 1));
var_dump(bloom_cache_info()['records']);
done();
?>
--EXPECT--
bool(true)
bool(false)
int(1)
bool(true)
NULL
bool(false)
int(2)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

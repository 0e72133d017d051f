--TEST--
bloom_cache_replace() stores only over what is there
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/replace.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_cache_replace('a', 1), bloom_cache_has('a'), bloom_cache_info()['records']);
foreach ([null, false, '', 1, [1], 'text'] as $value) {
    bloom_cache_set('a', $value);
    check_same(true, bloom_cache_replace('a', 'new'), 'replace of ' . json_encode($value));
    check_same('new', bloom_cache_get('a'), 'the new value');
}
var_dump(bloom_cache_replace('a', null), bloom_cache_get('a', 'default'), bloom_cache_replace('a', 2));
bloom_cache_delete('a');
var_dump(bloom_cache_replace('a', 3), bloom_cache_get('a', 'default'));
done();
?>
--EXPECT--
bool(false)
bool(false)
int(0)
bool(true)
NULL
bool(true)
bool(false)
string(7) "default"
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

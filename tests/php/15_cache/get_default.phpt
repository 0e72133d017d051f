--TEST--
bloom_cache_get() gives the default, or null, for what is not there
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/get_default.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$object = new stdClass();
check_same(null, bloom_cache_get('absent'), 'no default');
foreach ([null, false, 0, 'text', [1], $object] as $default) {
    check(bloom_cache_get('absent', $default) === $default, 'default ' . json_encode($default));
}
// A stored null, false or "" is no reason for the default.
bloom_cache_set('null', null);
bloom_cache_set('false', false);
bloom_cache_set('empty', '');
bloom_cache_set('zero', 0);
var_dump(
    bloom_cache_get('null', 'default'),
    bloom_cache_get('false', 'default'),
    bloom_cache_get('empty', 'default'),
    bloom_cache_get('zero', 'default'),
);
// The default is not stored.
var_dump(bloom_cache_has('absent'), bloom_cache_info()['records']);
bloom_cache_delete('zero');
var_dump(bloom_cache_get('zero', 'default'));
done();
?>
--EXPECT--
NULL
bool(false)
string(0) ""
int(0)
bool(false)
int(4)
string(7) "default"
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloomshm.serializer=igbinary without that extension: arrays and objects are INCOMPATIBLE, the rest works
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/serializer_igbinary_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
bloomshm.serializer=igbinary
--SKIPIF--
<?php
if (extension_loaded('igbinary')) { die('skip igbinary is loaded'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_cache_set('a', 'old');
show_thrown(
    fn () => bloom_cache_set('a', [1]),
    fn () => bloom_cache_set_many(['b' => 1, 'a' => new stdClass()]),
    fn () => bloom_cache_cas('a', [1], 'new'),
);
foreach ([null, false, 1, 1.5, 'text'] as $value) {
    check(bloom_cache_set('scalar', $value) && bloom_cache_get('scalar', 'default') === $value, json_encode($value));
}
var_dump(bloom_cache_get('a'), bloom_cache_has('b'));
done();
?>
--EXPECTF--
BloomShm\Exception INCOMPATIBLE: %Sigbinary%S
BloomShm\Exception INCOMPATIBLE: %Sigbinary%S
BloomShm\Exception INCOMPATIBLE: %Sigbinary%S
string(3) "old"
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

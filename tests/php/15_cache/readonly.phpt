--TEST--
bloomshm.readonly=1: the record store works
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/readonly.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a']);
bloom_cache_set('before', 'by another');
echo Child::run(<<<'PHP'
    $cursor = 0;
    var_dump(
        bloom_cache_get('before'),
        bloom_cache_set('a', [1]),
        bloom_cache_get('a') === [1],
        bloom_cache_set_many(['b' => 2, 'c' => 3]),
        bloom_cache_add('d', 4),
        bloom_cache_replace('d', 5),
        bloom_cache_increment('d'),
        bloom_cache_cas('d', 6, 7),
        bloom_cache_append('e', 'text'),
        bloom_cache_touch('e', 10),
        bloom_cache_remember('g', fn ($key) => "loaded $key"),
        bloom_cache_delete('b'),
        count(bloom_cache_scan($cursor)),
        bloom_cache_dump(scratch()),
        bloom_cache_pop_oldest(),
        bloom_cache_restore(scratch()),
        bloom_cache_info()['records'],
    );
    show_thrown(fn () => bloom_add('f', 'b'), fn () => bloom_load('f', ['b']));
    PHP, ['bloomshm.readonly' => '1']);
echo json_encode(bloom_cache_get_many(['before', 'a', 'b', 'c', 'd', 'e', 'g'])), "\n";
done();
?>
--EXPECTF--
string(10) "by another"
bool(true)
bool(true)
int(2)
bool(true)
bool(true)
int(6)
bool(true)
int(4)
bool(true)
string(8) "loaded g"
bool(true)
int(6)
int(6)
array(2) {
  [0]=>
  string(6) "before"
  [1]=>
  string(10) "by another"
}
int(1)
int(6)
BloomShm\Exception READ_ONLY: %s
BloomShm\Exception READ_ONLY: %s
{"before":"by another","a":[1],"b":null,"c":3,"d":7,"e":"text","g":"loaded g"}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
A record that is used again and again outlives any number of others
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/recency.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
bloomshm.cache_records=100
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ([
    'get' => 'bloom_cache_get("hot");',
    'get_many' => 'bloom_cache_get_many(["hot", "absent"]);',
    'touch' => 'bloom_cache_touch("hot", 0);',
    'remember' => 'bloom_cache_remember("hot", fn () => "lost");',
    'set' => 'bloom_cache_set("hot", "value");',
    'fetch' => 'bloom_fetch("f", "hot", fn () => "lost");',
] as $name => $use) {
    bloom_cache_clear();
    bloom_load('f', ['hot']);
    bloom_cache_set('hot', 'value');
    bloom_fetch('f', 'hot', fn () => 'value');
    for ($i = 0; $i < 3000; $i++) {
        bloom_cache_set("key $i", $i);
        if ($i % 10 === 0) {
            eval($use);
        }
    }
    check_same('value', $name === 'fetch' ? bloom_fetch('f', 'hot', fn () => 'lost') : bloom_cache_get('hot'), $name);
    check_same(100, bloom_cache_info()['records'], "$name: records");
    check_same(false, bloom_cache_has('key 0'), "$name: an old one");
}
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

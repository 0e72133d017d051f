--TEST--
Adds to a counting filter while a load runs count in the new one, each as often as it was made
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/counting_load_adds.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 100, 0.0001, counting: true, seed: 'old');
bloom_add('f', 'old');
bloom_load('f', (function () {
    yield 'loaded';
    yield 'both';
    for ($i = 0; $i < 3; $i++) {
        bloom_add('f', 'added');
        bloom_add('f', 'both');
    }
    yield 'loaded';
    bloom_add_many('f', ['added', 'many', 'many']);
    // What a load has gathered is not changed by a removal: that is for what is published.
    bloom_remove('f', 'added');
    yield from keys('k', 300);
    bloom_add('f', 'last');
})(), 0.0001, counting: true, seed: 'new');
foreach (['old', 'loaded', 'both', 'added', 'many', 'last', 'k7'] as $key) {
    echo $key, ': ', bloom_count('f', $key), "\n";
}
done();
?>
--EXPECT--
old: 0
loaded: 2
both: 4
added: 4
many: 2
last: 1
k7: 1
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

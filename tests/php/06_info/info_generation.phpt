--TEST--
bloom_info()['generation'] tells publications apart
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/info_generation.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$seen = [];
for ($i = 0; $i < 20; $i++) {
    $seen[] = bloom_load('f', ['a'])['generation'];
    bloom_add('f', "key $i");
    check_same(end($seen), bloom_info('f')['generation'], 'an add is no publication');
}
var_dump(count(array_unique($seen)));
$sorted = $seen;
sort($sorted);
var_dump($sorted === $seen);
// So is a layer more: the filter is described anew; when it was published stays.
bloom_reserve('g', 100);
$before = bloom_info('g');
bloom_add_many('g', keys('k', 5000));
$after = bloom_info('g');
var_dump($after['generation'] > $before['generation'], $after['published_at'] === $before['published_at']);
?>
--EXPECT--
int(20)
bool(true)
bool(true)
bool(true)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

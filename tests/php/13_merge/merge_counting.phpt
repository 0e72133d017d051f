--TEST--
A union of counting filters adds their counts up, to 15
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/merge_counting.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach (['a', 'b'] as $name) {
    bloom_reserve($name, 1000, 0.0001, counting: true, seed: 'shared');
}
for ($i = 0; $i < 3; $i++) {
    bloom_add_many('a', ['both', 'only a']);
}
for ($i = 0; $i < 5; $i++) {
    bloom_add_many('b', ['both', 'only b']);
}
for ($i = 0; $i < 9; $i++) {
    bloom_add('a', 'often');
    bloom_add('b', 'often');
}
var_dump(bloom_merge('a', 'b'), bloom_info('a')['items']);
foreach (['both', 'only a', 'only b', 'often', 'absent'] as $key) {
    echo $key, ': ', bloom_count('a', $key), ', ', bloom_count('b', $key), "\n";
}
// A source that is named twice counts once.
bloom_merge('once', 'b', 'b', 'b');
var_dump(bloom_count('once', 'only b'));
// Each add can be taken back; what is saturated stays.
for ($i = 0; $i < 8; $i++) {
    check_same(true, bloom_remove('a', 'both'), "removal $i");
    bloom_remove('a', 'often');
}
var_dump(bloom_remove('a', 'both'), bloom_maybe_has('a', 'both'), bloom_count('a', 'often'));
done();
?>
--EXPECT--
bool(true)
int(4)
both: 8, 5
only a: 3, 0
only b: 5, 5
often: 15, 9
absent: 0, 0
int(5)
bool(false)
bool(false)
int(15)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

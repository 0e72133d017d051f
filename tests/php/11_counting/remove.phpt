--TEST--
bloom_remove() takes back one add at a time, and nothing of any other key
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/remove.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 5000, 0.01, counting: true, seed: 'fixed');
for ($i = 0; $i < 3; $i++) {
    bloom_add('f', 'thrice');
}
for ($i = 3; $i > 0; $i--) {
    var_dump(bloom_count('f', 'thrice'), bloom_remove('f', 'thrice'));
}
var_dump(bloom_count('f', 'thrice'), bloom_maybe_has('f', 'thrice'), bloom_remove('f', 'thrice'), bloom_info('f')['items']);

$new = bloom_add_many('f', keys('k', 5000));
bloom_add_many('f', keys('k', 1000));
check_same($new, bloom_info('f')['items'], 'items');
// Every second one goes, all the others stay.
foreach (keys('k', 5000) as $i => $key) {
    $i % 2 && check_same(true, bloom_remove('f', $key), $key);
    $i % 2 && $i < 1000 && check_same(true, bloom_remove('f', $key), "$key again");
}
foreach (keys('k', 5000) as $i => $key) {
    $i % 2 || check(bloom_count('f', $key) >= ($i < 1000 ? 2 : 1), "$key is lost");
}
$odd = array_filter(keys('k', 5000), fn ($key) => (int) substr($key, 1) % 2 === 1);
check(count_yes('f', $odd) < 100, count_yes('f', $odd) . ' of those that were removed are found');
$items = bloom_info('f')['items'];
check($items > 2400 && $items < 2600, "items: $items");
// The last ones too: what is left is an empty filter.
foreach (keys('k', 5000) as $i => $key) {
    $i % 2 || bloom_remove('f', $key);
    $i % 2 || $i < 1000 && bloom_remove('f', $key);
}
var_dump(bloom_info('f')['fill'], bloom_info('f')['items'] < 100);
check_same(0, count_yes('f', keys('k', 5000)), 'found');
done();
?>
--EXPECT--
int(3)
bool(true)
int(2)
bool(true)
int(1)
bool(true)
int(0)
bool(false)
bool(false)
int(0)
float(0)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

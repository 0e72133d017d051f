--TEST--
bloom_fetch(): of many processes that want one key, one asks the backend, for a value and for nothing
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_concurrent.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['value', 'nothing']);
bloom_cache_set('loads', 0);
$code = <<<'PHP'
    echo "ready\n";
    fgets(STDIN);
    foreach (['value', 'nothing'] as $key) {
        echo json_encode(bloom_fetch('f', $key, function (string $key) {
            patiently(fn () => bloom_cache_increment("loads of $key"));
            usleep(200000);
            return $key === 'value' ? [$key] : null;
        })), "\n";
    }
    PHP;
$children = [];
for ($i = 0; $i < 6; $i++) {
    $children[] = new Child($code);
}
foreach ($children as $child) {
    $child->hear();
}
foreach ($children as $child) {
    $child->say('go');
}
foreach ($children as $i => $child) {
    check_same(['["value"]', 'null'], [$child->hear(), $child->hear()], "child $i");
}
foreach ($children as $child) {
    echo $child->end();
}
// A lease that could not be asked for in time is one load more.
$refused = bloom_cache_info()['lock_timeouts'];
foreach (['value', 'nothing'] as $key) {
    $loads = bloom_cache_get("loads of $key");
    check($loads >= 1 && $loads <= 1 + $refused, "loads of $key: $loads, refused: $refused");
}
var_dump(bloom_info('f')['false_positives'] - (bloom_cache_get('loads of nothing') - 1));
done();
?>
--EXPECT--
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

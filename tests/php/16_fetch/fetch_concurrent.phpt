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
            bloom_cache_increment("loads of $key");
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
$at = microtime(true);
foreach ($children as $child) {
    $child->say('go');
}
foreach ($children as $i => $child) {
    check_same(['["value"]', 'null'], [$child->hear(), $child->hear()], "child $i");
}
check(microtime(true) - $at < 2.5, 'they waited for one load only');
foreach ($children as $child) {
    echo $child->end();
}
var_dump(bloom_cache_get('loads of value'), bloom_cache_get('loads of nothing'), bloom_info('f')['false_positives']);
done();
?>
--EXPECT--
int(1)
int(1)
int(1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

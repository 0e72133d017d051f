--TEST--
bloom_cache_cas() by many processes: each swap counts once
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/cas_concurrent.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$code = <<<'PHP'
    fgets(STDIN);
    for ($i = 0; $i < 1000; $i++) {
        do {
            $list = bloom_cache_get('list', []);
            $next = $list;
            $next[getmypid()] = ($next[getmypid()] ?? 0) + 1;
        } while (!bloom_cache_cas('list', $list === [] ? null : $list, $next));
    }
    PHP;
$children = [];
for ($i = 0; $i < 4; $i++) {
    $children[] = new Child($code);
}
foreach ($children as $child) {
    $child->say('go');
}
foreach ($children as $child) {
    echo $child->end();
}
echo json_encode(array_values(bloom_cache_get('list'))), "\n";
done();
?>
--EXPECT--
[1000,1000,1000,1000]
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_cache_increment() by many processes loses none
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/increment_concurrent.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$code = <<<'PHP'
    fgets(STDIN);
    for ($i = 0; $i < 5000; $i++) {
        patiently(fn () => bloom_cache_increment('shared', 3));
        patiently(fn () => bloom_cache_decrement('shared'));
        patiently(fn () => bloom_cache_increment('key ' . $i % 7));
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
var_dump(bloom_cache_get('shared'), array_sum(bloom_cache_get_many(keys('key ', 7))));
done();
?>
--EXPECT--
int(40000)
int(20000)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
Processes share the records, and see each other's changes at once
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/shared.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$child = new Child(<<<'PHP'
    while (($line = fgets(STDIN)) !== false) {
        echo json_encode(eval('return ' . $line . ';')), "\n";
    }
    PHP);
$there = function (string $code) use ($child): string {
    $child->say($code);
    return $child->hear();
};
bloom_cache_set('a', ['x' => 1]);
check_same('{"x":1}', $there('bloom_cache_get("a")'), 'what was set here');
check_same('true', $there('bloom_cache_set("b", 1.5)'), 'set there');
check_same(1.5, bloom_cache_get('b'), 'what was set there');
for ($i = 0; $i < 100; $i++) {
    check_same((string) (2 * $i + 1), $there('bloom_cache_increment("n")'), 'counted there');
    check_same(2 * $i + 2, bloom_cache_increment('n'), 'counted here');
}
check_same('true', $there('bloom_cache_delete("a")'), 'removed there');
check(!bloom_cache_has('a') && !bloom_cache_delete('a'), 'gone here');
check_same('2', $there('bloom_cache_info()["records"]'), 'records there');
check_same(2, bloom_cache_clear(), 'cleared here');
check_same('false', $there('bloom_cache_has("b")'), 'gone there');
$child->end();
// They outlive every process.
Child::run('bloom_cache_set("left behind", 1);');
var_dump(bloom_cache_get('left behind'));
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

--TEST--
bloom_fetch(): a key that is added or forgotten while its loader runs is no remembered null
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_added_during.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$ways = [
    'bloom_add' => 'bloom_add("f", "k");',
    'bloom_add_many' => 'bloom_add_many("f", ["j", "k"]);',
    'bloom_insert' => 'bloom_insert("f", ["k"]);',
    'bloom_load' => 'bloom_load("f", ["k"]);',
    'bloom_forget' => 'bloom_forget("f", "k");',
    'bloom_drop' => 'bloom_drop("f"); bloom_load("f", ["k"]);',
];
foreach ($ways as $name => $code) {
    foreach (['here' => fn () => eval($code), 'by another' => fn () => print(Child::run($code))] as $where => $change) {
        bloom_load('f', ['k', 'l']);
        bloom_forget('f', 'k');
        ob_start();
        // The loader has asked the backend, which did not know the key; then it comes.
        $got = bloom_fetch('f', 'k', function () use ($change) {
            $change();
            return null;
        });
        check_same('', ob_get_clean(), "$name $where: output");
        check_same(null, $got, "$name $where: what was loaded");
        check_same('found', bloom_fetch('f', 'k', fn () => 'found'), "$name $where: asked again");
    }
}
// What was loaded before a bloom_forget() is old.
bloom_load('f', ['k', 'l']);
var_dump(bloom_fetch('f', 'l', function () {
    Child::run('bloom_forget("f", "l");');
    return 'old';
}));
var_dump(bloom_fetch('f', 'l', fn () => 'new'));
done();
?>
--EXPECT--
string(3) "old"
string(3) "new"
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

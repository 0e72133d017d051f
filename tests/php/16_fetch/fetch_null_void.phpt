--TEST--
bloom_fetch(): a remembered null is void as soon as its key is added or the filter is published anew
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_null_void.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

file_put_contents(scratch('.keys'), "k\nl\n");
$ways = [
    'bloom_add' => fn () => bloom_add('f', 'k'),
    'bloom_add by another' => fn () => print(Child::run('bloom_add("f", "k");')),
    'bloom_add_many' => fn () => bloom_add_many('f', ['j', 'k', 'l']),
    'bloom_add_many of a generator' => fn () => bloom_add_many('f', (fn () => yield from ['j', 'k'])()),
    'bloom_add_many of rows' => fn () => bloom_add_many('f', [['k', 'column']]),
    'bloom_add_many of very many' => fn () => bloom_add_many('f', [...keys('more ', 3000), 'k']),
    'bloom_insert' => fn () => bloom_insert('f', ['k']),
    'bloom_insert by another' => fn () => print(Child::run('bloom_insert("f", ["k", "l"]);')),
    'bloom_load' => fn () => bloom_load('f', ['k', 'l']),
    'bloom_load by another' => fn () => print(Child::run('bloom_load("f", ["k"]);')),
    'bloom_load_file' => fn () => bloom_load_file('f', scratch('.keys')),
    'bloom_restore' => fn () => bloom_restore('f', scratch('.dump')),
    'bloom_copy' => fn () => bloom_copy('other', 'f'),
    'bloom_rename' => fn () => bloom_rename('other', 'f'),
    'bloom_merge' => fn () => bloom_merge('f', 'other'),
    'bloom_drop and bloom_load' => fn () => bloom_drop('f') && bloom_load('f', ['k']),
    'bloom_clear and bloom_add' => fn () => bloom_clear('f') && bloom_add('f', 'k'),
    'bloom_forget' => fn () => bloom_forget('f', 'k'),
    'bloom_forget by another' => fn () => print(Child::run('bloom_forget("f", "k");')),
];
foreach ($ways as $name => $way) {
    foreach (['f', 'other'] as $filter) {
        bloom_load($filter, ['k', 'l'], capacity: 10000, seed: 'seed');
    }
    bloom_dump('f', scratch('.dump'));
    bloom_forget('f', 'k');
    check_same(null, bloom_fetch('f', 'k', fn () => null), "$name: the backend does not know it");
    check_same(null, bloom_fetch('f', 'k', fn () => 'asked'), "$name: it is remembered");
    ob_start();
    $way();
    echo ob_get_clean() === '' ? '' : "$name: output\n";
    check_same('found', bloom_fetch('f', 'k', fn () => 'found'), "$name: asked again");
    check_same('found', bloom_fetch('f', 'k', fn () => 'never'), "$name: kept");
}
// An add of another key, or to another filter, is not for it.
bloom_load('f', ['k', 'l']);
bloom_forget('f', 'k');
bloom_fetch('f', 'k', fn () => null);
bloom_add('f', 'l');
bloom_insert('g', ['k']);
check_same(null, bloom_fetch('f', 'k', fn () => 'asked'), 'after other adds');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
Filters of every kind travel to another segment, under another name
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/restore_elsewhere.seg
bloomshm.filter_memory=4M
memory_limit=256M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('fixed', keys('k', 5000), 0.003, expansion: 0);
bloom_load('loaded', keys('k', 5000), seed: 'shared');
bloom_reserve('scalable', 100, 0.02, 3);
bloom_add_many('scalable', keys('k', 20000));
bloom_reserve('sliding', 6000, window: 36_000_000);
bloom_add_many('sliding', keys('k', 5000));
bloom_reserve('counting', 6000, counting: true, seed: 'fixed');
bloom_add_many('counting', [...keys('k', 5000), ...keys('k', 50)]);
bloom_reserve('empty', 100);
$names = ['fixed', 'loaded', 'scalable', 'sliding', 'counting', 'empty'];
$same = ['type', 'error_rate', 'capacity', 'items', 'expansion', 'window', 'hashes', 'partitions', 'bytes', 'bits_per_key', 'fill',
    'estimated_error_rate', 'worst_partition_error_rate', 'layers'];
foreach ($names as $name) {
    $layers = count(bloom_info($name)['layers']);
    check_same(bloom_info($name)['bytes'] + 200 + 72 * $layers, bloom_dump($name, scratch(".$name")), "$name: bytes written");
    $expected[$name] = [
        array_intersect_key(bloom_info($name), array_flip($same)),
        md5(json_encode(bloom_maybe_has_many($name, keys('absent ', 50000)))),
        $name === 'counting' ? array_map(fn ($key) => bloom_count('counting', $key), keys('k', 100)) : null,
    ];
}
$code = '$names = ' . var_export($names, true) . '; $same = ' . var_export($same, true) . '; $base = ' . var_export(scratch(), true) . ';' . <<<'PHP'
    foreach ($names as $name) {
        $to = "restored $name";
        bloom_restore($to, "$base.$name");
        check_same($name === 'empty' ? 0 : 5000, count_yes($to, keys('k', 5000)), "$name: found");
        $of[$name] = [
            array_intersect_key(bloom_info($to), array_flip($same)),
            md5(json_encode(bloom_maybe_has_many($to, keys('absent ', 50000)))),
            $name === 'counting' ? array_map(fn ($key) => bloom_count($to, $key), keys('k', 100)) : null,
        ];
        check_same($to, bloom_info($to)['name'], 'name');
        // It lives on: adds, growth, removals.
        bloom_insert($to, keys('later ', 80), create: false);
        check_same(0, count_no($to, keys('later ', 80)), "$name: denied later");
    }
    bloom_add_many('restored scalable', keys('more ', 60000));
    check(bloom_remove('restored counting', 'k0') && bloom_count('restored counting', 'k0') === 1, 'remove');
    echo implode("\n", array_map(json_encode(...), $of)), "\n";
    foreach (bloom_verify() as $problem) {
        echo $problem, "\n";
    }
    PHP;
// A seed that only one of the processes knows has travelled too.
$restored = Child::run($code, ['bloomshm.path' => scratch('.seg'), 'bloomshm.filter_memory' => '4M']);
$lines = explode("\n", rtrim($restored));
foreach ($names as $i => $name) {
    check_same(json_encode($expected[$name]), $lines[$i] ?? $restored, $name);
}
check_same(count($names), count($lines), 'lines');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

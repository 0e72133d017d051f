--TEST--
bloom_insert() makes a missing filter with its parameters; one that stands keeps its own
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/insert_create.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_insert('default', ['a']);
bloom_insert('fixed', ['a'], 5000, 0.001, 0);
bloom_insert('by 5', ['a'], 5000, 0.02, 5);
$row = fn (string $name): array => array_intersect_key(bloom_info($name), array_flip(['type', 'error_rate', 'expansion', 'items']));
foreach (['default', 'fixed', 'by 5'] as $name) {
    echo json_encode($row($name)), "\n";
}
// What it made is what bloom_reserve() makes.
var_dump(bloom_reserve('default', 100), bloom_reserve('fixed', 5000, 0.001, 0), bloom_reserve('by 5', 5000, 0.02, 5));

// An existing filter keeps its parameters, whatever its origin and kind.
bloom_reserve('sliding', 1000, window: 36_000_000);
bloom_reserve('counting', 1000, counting: true);
bloom_load('loaded', ['a'], 0.003);
bloom_add('sliding', 'a');
bloom_add('counting', 'a');
foreach (['default', 'fixed', 'by 5', 'sliding', 'counting', 'loaded'] as $name) {
    $before = bloom_info($name);
    check_same([false, true], bloom_insert($name, ['a', 'b'], 7, 0.5, 0), $name);
    check_same([false, false, true], bloom_insert($name, ['a', 'b', 'c'], 7, 0.5, 0, false), $name);
    $after = bloom_info($name);
    foreach (['type', 'error_rate', 'capacity', 'expansion', 'window', 'bytes', 'generation'] as $key) {
        check_same($before[$key], $after[$key], "$name: $key");
    }
}
var_dump(bloom_count('counting', 'b'));
// Nothing to add: it stands all the same.
var_dump(bloom_insert('empty', []), bloom_insert('empty too', new EmptyIterator()), bloom_ready('empty'), bloom_ready('empty too'));
var_dump(bloom_insert('empty', [], create: false), bloom_maybe_has('empty', 'a'));
done();
?>
--EXPECT--
{"type":"scalable","error_rate":0.01,"items":1,"expansion":2}
{"type":"fixed","error_rate":0.001,"items":1,"expansion":0}
{"type":"scalable","error_rate":0.02,"items":1,"expansion":5}
bool(false)
bool(false)
bool(false)
int(2)
array(0) {
}
array(0) {
}
bool(true)
bool(true)
array(0) {
}
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

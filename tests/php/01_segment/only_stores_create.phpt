--TEST--
Only a call that stores something creates a segment
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/only_stores_create.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

file_put_contents(scratch(), "a\n");
$look = [
    fn () => bloom_maybe_has('f', 'a'),
    fn () => bloom_maybe_has_many('f', ['a', 'b']),
    fn () => bloom_ready('f'),
    fn () => bloom_info('f'),
    fn () => bloom_list(),
    fn () => bloom_count('f', 'a'),
    fn () => bloom_add('f', 'a'),
    fn () => bloom_add_many('f', ['a', 'b']),
    fn () => bloom_remove('f', 'a'),
    fn () => bloom_drop('f'),
    fn () => bloom_clear('f'),
    fn () => bloom_rename('f', 'g'),
    fn () => bloom_copy('f', 'g'),
    fn () => bloom_merge('f', 'g'),
    fn () => bloom_insert('f', ['a'], create: false),
    fn () => bloom_dump('f', scratch('.dump')),
    fn () => bloom_forget('f', 'a'),
    fn () => bloom_cache_get('r', 'default'),
    fn () => bloom_cache_get_many(['r'], 'default'),
    fn () => bloom_cache_has('r'),
    fn () => bloom_cache_replace('r', 1),
    fn () => bloom_cache_cas('r', 1, 2),
    fn () => bloom_cache_cas('r', 1, 2, null),
    fn () => bloom_cache_increment('r', create: false),
    fn () => bloom_cache_decrement('r', create: false),
    fn () => bloom_cache_touch('r', 1),
    fn () => bloom_cache_delete('r'),
    fn () => bloom_cache_delete_many(['r']),
    fn () => bloom_cache_clear(),
    fn () => bloom_cache_pop_oldest(),
    function () {
        $cursor = 0;
        return bloom_cache_scan($cursor);
    },
    fn () => bloom_cache_dump(scratch('.dump')),
    fn () => array_sum(bloom_cache_info()),
    fn () => bloom_status()['available'],
    fn () => bloom_status()['filters'],
    fn () => count(bloom_verify()),
];
show_thrown(...$look);
echo bloom_status()['reason'], "\n", bloom_verify()[0], "\n";
check_same(bloom_status()['missing_answers'], 3, 'missing answers');
ob_start();
phpinfo(INFO_MODULES);
var_dump(str_contains(ob_get_clean(), 'no segment yet'), file_exists(segment()));

bloom_load('kept', ['a']);
bloom_dump('kept', scratch('.filter'));
bloom_cache_set('r', 1);
bloom_cache_dump(scratch('.records'));
$stores = [
    'bloom_reserve("f", 10)', 'bloom_insert("f", ["a"])', 'bloom_load("f", ["a"])', 'bloom_load_file("f", scratch())',
    'bloom_restore("f", scratch(".filter"))', 'bloom_fetch("f", "a", fn () => 1)', 'bloom_cache_set("r", 1)',
    'bloom_cache_set_many(["r" => 1])', 'bloom_cache_add("r", 1)', 'bloom_cache_cas("r", null, 1)', 'bloom_cache_increment("r")',
    'bloom_cache_decrement("r")', 'bloom_cache_append("r", "text")', 'bloom_cache_remember("r", fn () => 1)',
    'bloom_cache_restore(scratch(".records"))',
];
foreach ($stores as $call) {
    remove(segment());
    echo Child::run("check((bool) $call, 'what it returns'); check(file_exists(segment()), '$call did not create it');");
    bloom_status(); // looks for the file
    check_same(1, count(bloom_list()) + bloom_cache_info()['records'], $call);
}
done();
?>
--EXPECTF--
nothing thrown, returned true
nothing thrown, returned [true,true]
nothing thrown, returned false
nothing thrown, returned null
nothing thrown, returned []
nothing thrown, returned 15
nothing thrown, returned false
nothing thrown, returned 0
nothing thrown, returned false
nothing thrown, returned false
nothing thrown, returned false
BloomShm\Exception NOT_FOUND: filter "f" is not published: there is no segment yet at %sonly_stores_create.seg
BloomShm\Exception NOT_FOUND: filter "f" is not published: there is no segment yet at %sonly_stores_create.seg
BloomShm\Exception NOT_FOUND: filter "g" is not published: there is no segment yet at %sonly_stores_create.seg
BloomShm\Exception NOT_FOUND: filter "f" is not published: there is no segment yet at %sonly_stores_create.seg
BloomShm\Exception NOT_FOUND: filter "f" is not published: there is no segment yet at %sonly_stores_create.seg
nothing thrown, returned false
nothing thrown, returned "default"
nothing thrown, returned {"r":"default"}
nothing thrown, returned false
nothing thrown, returned false
nothing thrown, returned false
nothing thrown, returned false
nothing thrown, returned false
nothing thrown, returned false
nothing thrown, returned false
nothing thrown, returned false
nothing thrown, returned 0
nothing thrown, returned 0
nothing thrown, returned null
nothing thrown, returned []
BloomShm\Exception UNAVAILABLE: no segment yet at %s
nothing thrown, returned 0
nothing thrown, returned false
nothing thrown, returned 0
nothing thrown, returned 1
no segment yet at %sonly_stores_create.seg; the first call that stores something creates it
no segment yet at %sonly_stores_create.seg; the first call that stores something creates it
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

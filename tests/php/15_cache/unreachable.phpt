--TEST--
A segment that cannot be used: what every function of the record store answers
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/unreachable.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

file_put_contents(segment(), str_repeat('not a segment ', 1000));
chmod(segment(), 0600);
$outcomes = [
    'get' => fn () => bloom_cache_get('a'),
    'get default' => fn () => bloom_cache_get('a', 'default'),
    'get_many' => fn () => bloom_cache_get_many(['a', 'b'], 'default'),
    'set' => fn () => bloom_cache_set('a', 1),
    'set_many' => fn () => bloom_cache_set_many(['a' => 1]),
    'add' => fn () => bloom_cache_add('a', 1),
    'replace' => fn () => bloom_cache_replace('a', 1),
    'has' => fn () => bloom_cache_has('a'),
    'delete' => fn () => bloom_cache_delete('a'),
    'delete_many' => fn () => bloom_cache_delete_many(['a']),
    'increment' => fn () => bloom_cache_increment('a'),
    'increment if present' => fn () => bloom_cache_increment('a', create: false),
    'decrement' => fn () => bloom_cache_decrement('a'),
    'cas' => fn () => bloom_cache_cas('a', 1, 2),
    'cas keeps ttl' => fn () => bloom_cache_cas('a', 1, 2, null),
    'cas absent' => fn () => bloom_cache_cas('a', null, 2),
    'append' => fn () => bloom_cache_append('a', 'b'),
    'touch' => fn () => bloom_cache_touch('a', 1),
    'remember' => fn () => bloom_cache_remember('a', fn ($key) => "loaded $key"),
    'remember again' => fn () => bloom_cache_remember('a', fn ($key) => "loaded $key again"),
    'pop_oldest' => fn () => bloom_cache_pop_oldest(),
    'scan' => function () {
        $cursor = 0;
        return [bloom_cache_scan($cursor), $cursor];
    },
    'scan foreign' => function () {
        $cursor = 12345;
        return [bloom_cache_scan($cursor), $cursor];
    },
    'clear' => fn () => bloom_cache_clear(),
    'dump' => fn () => bloom_cache_dump(scratch()),
    'restore' => fn () => bloom_cache_restore(scratch()),
    'fetch' => fn () => bloom_fetch('f', 'a', fn ($key) => "loaded $key"),
    'fetch null' => fn () => bloom_fetch('f', 'a', fn ($key) => null),
    'forget' => fn () => bloom_forget('f', 'a'),
];
foreach ($outcomes as $name => $call) {
    try {
        $outcome = json_encode($call());
    } catch (BloomShm\Exception $e) {
        $outcome = code_name($e->getCode());
        check(strlen($e->getMessage()) > 20, "$name explains itself: " . $e->getMessage());
    }
    echo $name, ': ', $outcome, "\n";
}
// Arguments are checked all the same.
show_thrown(
    fn () => bloom_cache_get(str_repeat('k', 65536)),
    fn () => bloom_cache_set('a', 1, -1),
    fn () => bloom_cache_set_many(['a' => STDIN]),
    fn () => bloom_cache_get_many([null]),
);
foreach (bloom_cache_info() as $name => $value) {
    check_same(0, $value, $name);
}
$thrown = null;
try {
    bloom_cache_remember('a', fn () => throw new LogicException('thrown by the loader'));
} catch (LogicException $e) {
    $thrown = $e->getMessage();
}
var_dump($thrown, file_exists(scratch()));
?>
--EXPECTF--
get: null
get default: "default"
get_many: {"a":"default","b":"default"}
set: false
set_many: 0
add: false
replace: false
has: false
delete: false
delete_many: 0
increment: UNAVAILABLE
increment if present: UNAVAILABLE
decrement: UNAVAILABLE
cas: false
cas keeps ttl: false
cas absent: false
append: UNAVAILABLE
touch: false
remember: "loaded a"
remember again: "loaded a again"
pop_oldest: null
scan: [[],0]
scan foreign: [[],0]
clear: 0
dump: UNAVAILABLE
restore: UNAVAILABLE
fetch: "loaded a"
fetch null: null
forget: false
ValueError: bloom_cache_get(): Argument #1 ($key) must %s
ValueError: bloom_cache_set(): Argument #3 ($ttl) must %s
BloomShm\Exception INCOMPATIBLE: %s
TypeError: bloom_cache_get_many(): Argument #1 ($keys) must %s
string(20) "thrown by the loader"
bool(false)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

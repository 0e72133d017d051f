--TEST--
Filters that grow, slide or count are not part of this version
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/filters_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$calls = [
    'growing' => fn () => bloom_reserve('f', 100),
    'growing x4' => fn () => bloom_reserve('f', 100, expansion: 4),
    'sliding' => fn () => bloom_reserve('f', 100, window: 60),
    'sliding, expansion 0' => fn () => bloom_reserve('f', 100, expansion: 0, window: 60),
    'counting' => fn () => bloom_reserve('f', 100, counting: true),
    'counting, expansion 0' => fn () => bloom_reserve('f', 100, expansion: 0, counting: true),
    'load counting' => fn () => bloom_load('f', ['a'], counting: true),
    'insert' => fn () => bloom_insert('f', ['a']),
    'insert fixed' => fn () => bloom_insert('f', ['a'], expansion: 0),
    'remove' => fn () => bloom_remove('f', 'a'),
    'count' => fn () => bloom_count('f', 'a'),
    'merge' => fn () => bloom_merge('f', 'g'),
    'merge one' => fn () => bloom_merge('f'),
    'dump' => fn () => bloom_dump('f', scratch()),
    'restore' => fn () => bloom_restore('f', scratch()),
];
foreach ($calls as $name => $call) {
    echo $name, ': ', thrown_by($call), "\n";
}
var_dump(bloom_list(), file_exists(scratch()));
?>
--EXPECTF--
growing: BloomShm\Exception UNAVAILABLE: %snot part of this version%S
growing x4: BloomShm\Exception UNAVAILABLE: %snot part of this version%S
sliding: BloomShm\Exception UNAVAILABLE: %snot part of this version%S
sliding, expansion 0: BloomShm\Exception UNAVAILABLE: %snot part of this version%S
counting: BloomShm\Exception UNAVAILABLE: %snot part of this version%S
counting, expansion 0: BloomShm\Exception UNAVAILABLE: %snot part of this version%S
load counting: BloomShm\Exception UNAVAILABLE: %snot part of this version%S
insert: BloomShm\Exception UNAVAILABLE: %snot part of this version%S
insert fixed: BloomShm\Exception UNAVAILABLE: %snot part of this version%S
remove: BloomShm\Exception UNAVAILABLE: %snot part of this version%S
count: BloomShm\Exception UNAVAILABLE: %snot part of this version%S
merge: BloomShm\Exception UNAVAILABLE: %snot part of this version%S
merge one: BloomShm\Exception UNAVAILABLE: %snot part of this version%S
dump: BloomShm\Exception UNAVAILABLE: %snot part of this version%S
restore: BloomShm\Exception UNAVAILABLE: %snot part of this version%S
array(0) {
}
bool(false)
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

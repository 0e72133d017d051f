--TEST--
A file cut short before it is attached is refused as damaged, at every length
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/truncated.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

echo Child::run('bloom_load("f", keys("k", 100));');
copy(segment(), scratch());
$size = filesize(segment());
foreach ([1, 7, 8, 63, 64, 100, 512, 4095, 4096, 4097, intdiv($size, 2), $size - 4096, $size - 1] as $length) {
    $file = fopen(segment(), 'r+');
    ftruncate($file, $length);
    $output = Child::run(<<<'PHP'
        echo json_encode([...bloom_maybe_has_many('f', ['k1', 'x']), bloom_list(), bloom_status()['available']]);
        echo thrown_by(fn () => bloom_load('f', ['a']));
        PHP);
    check(str_starts_with($output, '[true,true,[],false]BloomShm\Exception CORRUPT: '), "cut to $length: $output");
    clearstatcache();
    check_same($length, filesize(segment()), 'the file is left as it is');
    ftruncate($file, 0);
    rewind($file);
    fwrite($file, file_get_contents(scratch()));
}
ftruncate($file, 100);
show_fail_open();
?>
--EXPECTF--
maybe_has: true
maybe_has_many: {"x":true,"y":true}
add: false
add_many: 0
drop: false
clear: false
remove: false
count: 15
ready: false
list: []
info: null
reserve: CORRUPT
load: CORRUPT
load_file: CORRUPT
rename: CORRUPT
copy: CORRUPT
insert: CORRUPT
merge: CORRUPT
dump: CORRUPT
restore: CORRUPT
available: false
reason: %s
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
A .gz cut at any byte publishes nothing
--EXTENSIONS--
bloomshm
zlib
--INI--
bloomshm.path={PWD}/load_file_gz_cut_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['stands']);
$free = free_bytes();
$first = gzencode("a\nb\n");
$whole = $first . gzencode("c\nd\n");
for ($length = 0; $length < strlen($whole); $length++) {
    if ($length === strlen($first)) {
        continue; // one whole member: nothing tells that another was meant to follow
    }
    file_put_contents(scratch('.gz'), substr($whole, 0, $length));
    $thrown = strstr(thrown_by(fn () => bloom_load_file('f', scratch('.gz'))), ':', true);
    check_same($length === 0 ? 'BloomShm\Exception EMPTY' : 'BloomShm\Exception IO', $thrown, "cut to $length");
}
// Any byte of the data or the trailer changed; most of the header's fields say nothing about the keys.
for ($at = 10; $at < strlen($first); $at++) {
    $damaged = $first;
    $damaged[$at] = ~$damaged[$at];
    file_put_contents(scratch('.gz'), $damaged);
    $thrown = strstr(thrown_by(fn () => bloom_load_file('f', scratch('.gz'))), ':', true);
    check_same('BloomShm\Exception IO', $thrown, "byte $at changed");
}
file_put_contents(scratch('.gz'), "plain text\n");
show_thrown(fn () => bloom_load_file('f', scratch('.gz')));
var_dump(bloom_maybe_has_many('f', ['stands', 'a', 'b', 'absent']) === [true, false, false, false], free_bytes() === $free);
done();
?>
--EXPECTF--
BloomShm\Exception IO: %sload_file_gz_cut_error.tmp.gz%s
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

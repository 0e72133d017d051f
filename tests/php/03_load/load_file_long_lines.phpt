--TEST--
bloom_load_file() of lines longer than any buffer
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_long_lines.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$lines = ['first'];
foreach ([8191, 8192, 8193, 65535, 65536, 65537, 1 << 20, (1 << 20) + 1, 3 << 20] as $i => $length) {
    $lines[] = str_repeat(chr(ord('a') + $i), $length);
    $lines[] = "short $i";
}
foreach (["\n", "\r\n"] as $newline) {
    foreach ([$newline, ''] as $end) {
        file_put_contents(scratch(), implode($newline, $lines) . $end);
        var_dump(bloom_load_file('f', scratch())['keys'], count_no('f', $lines), bloom_maybe_has('f', str_repeat('g', (1 << 20) - 1)));
        bloom_drop('f');
    }
}
done();
?>
--EXPECT--
int(19)
int(0)
bool(false)
int(19)
int(0)
bool(false)
int(19)
int(0)
bool(false)
int(19)
int(0)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_load_file() of .gz files of all sizes, dense and sparse, in one member and in many
--EXTENSIONS--
bloomshm
zlib
--INI--
bloomshm.path={PWD}/load_file_gz_sizes.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ([1, 100, 32767, 32768, 65535, 65536, 262143, 262144, 262145, 524288, 1 << 20] as $size) {
    // Packs to almost nothing: what is read at once gives more than any buffer holds.
    $lines = [str_repeat('a', $size), 'between', str_repeat('b', $size), 'last'];
    foreach (["\n", "\r\n"] as $newline) {
        $text = implode($newline, $lines);
        $parts = array_map(fn ($line) => gzencode($line . $newline, 1), $lines);
        foreach ([gzencode($text), gzencode($text, 0), gzencode($text . $newline, 9), implode('', $parts)] as $how => $packed) {
            file_put_contents(scratch('.gz'), $packed);
            $what = "size $size, newline " . bin2hex($newline) . ", packed $how";
            check_same(4, bloom_load_file('f', scratch('.gz'))['keys'], $what);
            check_same(0, count_no('f', $lines), "denied: $what");
            bloom_drop('f');
        }
    }
}
// As gzopen() and gzip write them: with a time and a name in the header.
$file = gzopen(scratch('.GZ'), 'wb9');
gzwrite($file, implode("\n", keys('k', 50000)));
gzclose($file);
var_dump(bloom_load_file('f', scratch('.GZ'))['keys'], count_no('f', keys('k', 50000)));
file_put_contents(scratch('.gz'), "\x1f\x8b\x08\x08\0\0\0\0\0\x03name\0" . substr(gzencode("a\nb\n"), 10));
var_dump(bloom_load_file('f', scratch('.gz'))['keys'], count_no('f', ['a', 'b']));
done();
?>
--EXPECT--
int(50000)
int(0)
int(2)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_load_file(): line ends at every place of the read buffers
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_boundaries.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// \r and \n fall on both sides of every power of two from 1 kB to 128 kB, empty lines too.
foreach (["\n", "\r\n"] as $newline) {
    $text = '';
    $keys = [];
    for ($power = 10; $power <= 17; $power++) {
        foreach ([-3, -2, -1, 0, 1] as $shift) {
            // The text up to this newline has 2^power + shift bytes, counted from a multiple of 2^18.
            $base = intdiv(strlen($text) + (1 << 18) - 1, 1 << 18) << 18;
            $keys[] = $key = "$power $shift " . str_repeat('.', $base + (1 << $power) + $shift - strlen($text) - strlen("$power $shift ") - 1);
            $text .= $key . $newline . $newline;
            $keys[] = $key = "after $power $shift";
            $text .= $key . $newline;
        }
    }
    file_put_contents(scratch(), $text);
    check_same(count($keys), bloom_load_file('f', scratch(), 0.000001, seed: 'fixed')['keys'], 'keys');
    check_same(0, count_no('f', $keys), 'denied');
    check_same(0, count_yes('f', array_map(fn ($key) => "$key\r", $keys)), 'with \r');
}
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

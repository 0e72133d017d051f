--TEST--
A file whose filter does not fit is refused with the sizes, and nothing changes
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/restore_no_space_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// Changes bytes of a dump and makes its checksums fit again: what a hostile writer would do.
$forge = function (string $file, int $at, string $bytes): string {
    $file = substr_replace($file, $bytes, $at, strlen($bytes));
    $check = fn (int $from, int $length): string => strrev(hash('xxh3', substr($file, $from, $length), true));
    $file = substr_replace($file, $check(0, 184), 184, 8);
    return substr_replace($file, $check(192, 56), 248, 8);
};

bloom_load('f', ['a']);
bloom_dump('f', scratch());
$sound = file_get_contents(scratch());
$before = [bloom_info('f'), free_bytes()];
// Many partitions, in a file with a hole: nothing of it has to be read to see that it does not fit.
foreach ([200, 100_000, 2 ** 27] as $partitions) {
    $bytes = 272 + 8192 * $partitions;
    $file = $forge($forge($sound, 192, pack('P', $partitions)), 16, pack('P', $bytes));
    $handle = fopen(scratch(), 'w');
    fwrite($handle, substr($file, 0, 256));
    ftruncate($handle, $bytes);
    fclose($handle);
    echo thrown_by(fn () => bloom_restore('f', scratch())), "\n";
}
check_same($before, [bloom_info('f'), free_bytes()], 'what there was');
// Old and new are both needed; when the old one is gone there is room.
reserve_largest('large');
bloom_dump('large', scratch('.large'));
show_thrown(fn () => bloom_restore('large', scratch('.large')));
bloom_drop('large');
var_dump(bloom_restore('large', scratch('.large')), bloom_maybe_has('f', 'a'));
done();
?>
--EXPECTF--
BloomShm\Exception NO_SPACE: %s bytes), and %s bytes) are free; raise bloomshm.filter_memory%S
BloomShm\Exception NO_SPACE: %s bytes), and %s bytes) are free; raise bloomshm.filter_memory%S
BloomShm\Exception NO_SPACE: %s bytes), and %s bytes) are free; raise bloomshm.filter_memory%S
BloomShm\Exception NO_SPACE: %s bytes), and %s bytes) are free; raise bloomshm.filter_memory%S
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

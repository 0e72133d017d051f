--TEST--
Numbers that cannot be, with checksums that fit: refused, and nothing changes
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/restore_hostile_error.seg
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

bloom_load('f', keys('k', 100), expansion: 0);
bloom_dump('f', scratch());
$sound = file_get_contents(scratch());
$before = [bloom_info('f'), free_bytes()];
$try = function (string $bytes): string {
    file_put_contents(scratch(), $bytes);
    return str_replace(scratch(), 'FILE', thrown_by(fn () => bloom_restore('f', scratch())));
};
check_same('nothing thrown, returned true', $try($forge($sound, 8, pack('V', 1))), 'a forged file that says what it said');
$before[0] = bloom_info('f');
[$not, $none, $much] = [pack('e', NAN), pack('P', 0), pack('J', -1)];
$header = [
    'header_bytes' => [12, pack('V', 64), pack('V', 200), pack('V', 0xffffffff)],
    'file_bytes' => [16, $none, pack('P', strlen($sound) + 1), pack('P', strlen($sound) - 8192), $much],
    'capacity' => [32, $none, pack('P', 2 ** 40 + 1), $much],
    'error_rate' => [40, pack('e', 0.0), pack('e', -0.01), pack('e', 0.51), pack('e', INF), $not],
    'published_s' => [48, pack('e', -1.0), pack('e', 1e300), $not],
    'dumped_s' => [56, pack('e', -1.0), pack('e', INF), $not],
    'items' => [64, $much],
    'kind' => [80, pack('V', 1), pack('V', 3), pack('V', 4), pack('V', 0xffffffff)],
    'expansion' => [84, pack('V', 1), pack('V', 2), pack('V', 33), pack('V', 0xffffffff)],
    'window_s' => [88, pack('V', 60), pack('V', 0xffffffff)],
    'layer_count' => [92, pack('V', 0), pack('V', 2), pack('V', 33), pack('V', 0xffffffff)],
    'sized' => [96, pack('V', 2), pack('V', 0xffffffff)],
];
$layer = [
    'partition_count' => [192, $none, pack('P', 2), pack('P', 2 ** 30 + 1), pack('P', 2 ** 32 + 1), $much],
    'capacity' => [200, $none, $much],
    'items_before' => [208, pack('P', 1), $much],
    'error_rate' => [216, pack('e', 0.0), pack('e', 0.51), $not],
    'hash_count' => [224, pack('V', 0), pack('V', 65), pack('V', 0xffffffff)],
];
foreach ([$header, $layer] as $fields) {
    foreach ($fields as $field => $values) {
        $at = array_shift($values);
        foreach ($values as $i => $value) {
            $thrown = $try($forge($sound, $at, $value));
            check(preg_match('/^BloomShm.Exception CORRUPT: the file FILE is damaged \(/', $thrown) === 1, "$field, value $i: $thrown");
        }
    }
}
echo $try($forge($sound, 8, pack('V', 2))), "\n";
echo $try($forge($sound, 0, strrev(substr($sound, 0, 8)))), "\n";
echo $try($forge($sound, 0, 'BLOOMSHN')), "\n";
check_same($before, [bloom_info('f'), free_bytes()], 'what there was');
check_same(0, count_no('f', keys('k', 100)), 'denied');
done();
?>
--EXPECT--
BloomShm\Exception INCOMPATIBLE: the file FILE has the format version 2, and this build reads version 1
BloomShm\Exception INCOMPATIBLE: the file FILE holds a filter in the other byte order
BloomShm\Exception CORRUPT: the file FILE was not made by bloom_dump()
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_load_file() of many lines of all lengths
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_volume.seg
bloomshm.filter_memory=2M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mt_srand($seed = 4711);
echo "seed $seed\n";
$keys = [];
for ($i = 0; $i < 200000; $i++) {
    $keys[] = $i . str_repeat('-', mt_rand(0, 40));
}
foreach (["\n", "\r\n"] as $newline) {
    file_put_contents(scratch(), implode($newline, $keys) . $newline);
    foreach ([null, 1, 200000, 500000] as $capacity) {
        $info = bloom_load_file('f', scratch(), capacity: $capacity, seed: 'fixed');
        check_same(200000, $info['keys'], 'keys');
        check($info['estimated_error_rate'] <= 0.01, 'estimated_error_rate ' . $info['estimated_error_rate']);
        check_same(0, count_no('f', $keys), 'denied');
    }
}
done();
?>
--EXPECTF--
seed %d
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

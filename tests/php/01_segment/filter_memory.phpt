--TEST--
bloomshm.filter_memory is what filters can use
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/filter_memory.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach (['1M' => 1 << 20, '3M' => 3 << 20, '5000000' => 5000000, '1024K' => 1 << 20] as $setting => $bytes) {
    $ini = ['bloomshm.filter_memory' => $setting, 'bloomshm.path' => segment() . $setting];
    [$given, $free, $largest] = json_decode(Child::run(
        'create_segment(); $s = bloom_status(); echo json_encode([$s["filter_bytes"], $s["filter_bytes_free"], reserve_largest("f")]);',
        $ini
    ));
    // Whole 8 kB partitions, and as many as there is room for.
    check($given <= $bytes && $given > $bytes - 8192, "$setting: filter_bytes is $given");
    check($free <= $given && $free > $given - 3 * 8192, "$setting: filter_bytes_free is $free");
    check($largest <= $free && $largest > $free - 3 * 8192, "$setting: the largest filter has $largest of $free bytes");
}
echo "done\n";
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

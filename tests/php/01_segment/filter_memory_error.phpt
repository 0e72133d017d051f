--TEST--
A bloomshm.filter_memory below 1M or without sense is not taken
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/filter_memory_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach (['0', '1023K', '-1', 'much', '-5M'] as $setting) {
    $output = Child::run('create_segment(); echo bloom_status()["filter_bytes"], " ", bloom_status()["available"];', ['bloomshm.filter_memory' => $setting]);
    check(preg_match('/(\d+) 1$/', $output, $match) === 1 && (int) $match[1] >= 1 << 20, "$setting: $output");
    remove(segment());
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

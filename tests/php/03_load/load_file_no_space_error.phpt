--TEST--
bloom_load_file() of more than fits throws NO_SPACE; the live filter stays
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_no_space_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$file = fopen(scratch(), 'w');
for ($i = 0; $i < 2000; $i++) {
    fwrite($file, implode("\n", keys("$i-", 1000)) . "\n");
}
fclose($file);
bloom_load('f', keys('old ', 1000));
$free = free_bytes();
show_thrown(
    fn () => bloom_load_file('f', scratch()),
    fn () => bloom_load_file('f', scratch(), capacity: 2000000),
);
var_dump(count_no('f', keys('old ', 1000)), free_bytes() === $free);
done();
?>
--EXPECTF--
BloomShm\Exception NO_SPACE: %s%d%s%d%sbloomshm.filter_memory%S
BloomShm\Exception NO_SPACE: %s%d%s%d%sbloomshm.filter_memory%S
int(0)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

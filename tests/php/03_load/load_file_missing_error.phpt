--TEST--
bloom_load_file() of what cannot be read throws IO; the live filter stays
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_missing_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['stands']);
$free = free_bytes();
mkdir(scratch('.dir'));
show_thrown(
    fn () => bloom_load_file('f', scratch('.missing')),
    fn () => bloom_load_file('g', scratch('.missing') . '/deeper'),
    fn () => bloom_load_file('f', scratch('.missing.gz')),
    fn () => bloom_load_file('f', scratch('.dir')),
    fn () => bloom_load_file('f', scratch('.dir'), allow_empty: true),
    fn () => @bloom_load_file('f', 'no-such-scheme://x'),
    fn () => bloom_load_file('f', 'http://127.0.0.1:1/x'),
);
check(str_contains((string) bloom_status()['last_error'], '127.0.0.1:1'), 'the last error');
var_dump(bloom_list(), bloom_maybe_has_many('f', ['stands', 'a']) === [true, false], free_bytes() === $free);
done();
?>
--EXPECTF--
BloomShm\Exception IO: %sload_file_missing_error.tmp.missing%s
BloomShm\Exception IO: %sload_file_missing_error.tmp.missing/deeper%s
BloomShm\Exception IO: %sload_file_missing_error.tmp.missing.gz%s
BloomShm\Exception IO: %sload_file_missing_error.tmp.dir: Is a directory
BloomShm\Exception IO: %sload_file_missing_error.tmp.dir: Is a directory
BloomShm\Exception IO: %sno-such-scheme%s
BloomShm\Exception IO: %s127.0.0.1:1%s
array(1) {
  [0]=>
  string(1) "f"
}
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

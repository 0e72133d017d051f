--TEST--
bloom_load_file() that may not or cannot publish says so before it reads
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_file_readonly_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

file_put_contents(scratch(), "a\n");
foreach (['bloomshm.readonly=1', 'bloomshm.enable=0'] as $ini) {
    [$name, $value] = explode('=', $ini);
    echo Child::run('show_thrown(fn () => bloom_load_file("f", scratch()));', [$name => $value]);
    echo Child::run('show_thrown(fn () => bloom_load("f", (function () { echo "started\n"; yield "a"; })()));', [$name => $value]);
}
?>
--EXPECTF--
BloomShm\Exception READ_ONLY: %s
BloomShm\Exception READ_ONLY: %s
BloomShm\Exception UNAVAILABLE: %s
BloomShm\Exception UNAVAILABLE: %s
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

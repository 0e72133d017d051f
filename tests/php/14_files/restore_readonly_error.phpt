--TEST--
A process that may only read can dump, but not restore
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/restore_readonly_error.seg
bloomshm.filter_memory=4M
bloomshm.readonly=1
--FILE--
<?php
require __DIR__ . '/../helper.inc';

(new Child("bloom_load('f', ['a', 'b']); echo 'ok', PHP_EOL;", ['bloomshm.readonly' => '0']))->end();
$bytes = bloom_dump('f', scratch());
check($bytes > 8192, 'bytes');
show_thrown(
    fn () => bloom_restore('f', scratch()),
    fn () => bloom_insert('f', ['a']),
    fn () => bloom_merge('f', 'f'),
    fn () => bloom_remove('f', 'a'),
);
done();
?>
--EXPECTF--
BloomShm\Exception READ_ONLY: the filters are mapped read-only (bloomshm.readonly = 1)
BloomShm\Exception READ_ONLY: the filters are mapped read-only (bloomshm.readonly = 1)
BloomShm\Exception READ_ONLY: the filters are mapped read-only (bloomshm.readonly = 1)
BloomShm\Exception READ_ONLY: the filters are mapped read-only (bloomshm.readonly = 1)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
Counting while the extension is switched off
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/disabled.seg
bloomshm.filter_memory=4M
bloomshm.enable=0
--FILE--
<?php
require __DIR__ . '/../helper.inc';

var_dump(bloom_count('c', 'a'), bloom_remove('c', 'a'));
show_thrown(
    fn () => bloom_insert('c', ['a']),
    fn () => bloom_merge('c', 'd'),
    fn () => bloom_dump('c', scratch()),
    fn () => bloom_restore('c', scratch()),
);
echo 'done';
?>
--EXPECTF--
int(15)
bool(false)
BloomShm\Exception UNAVAILABLE: bloomshm is switched off (bloomshm.enable = 0)
BloomShm\Exception UNAVAILABLE: bloomshm is switched off (bloomshm.enable = 0)
BloomShm\Exception UNAVAILABLE: bloomshm is switched off (bloomshm.enable = 0)
BloomShm\Exception UNAVAILABLE: bloomshm is switched off (bloomshm.enable = 0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

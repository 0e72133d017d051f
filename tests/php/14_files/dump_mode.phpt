--TEST--
A dump can be read by its owner alone, whatever the umask and whatever was there before
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/dump_mode.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a'], seed: 'secret');
foreach ([0, 022, 077] as $umask) {
    umask($umask);
    @unlink(scratch());
    bloom_dump('f', scratch());
    clearstatcache();
    printf("%04o\n", fileperms(scratch()) & 07777);
}
umask(0);
file_put_contents(scratch(), 'readable by all users');
chmod(scratch(), 0666);
bloom_dump('f', scratch());
clearstatcache();
printf("%04o\n", fileperms(scratch()) & 07777);
var_dump(bloom_restore('g', scratch()));
done();
?>
--EXPECT--
0600
0600
0600
0600
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

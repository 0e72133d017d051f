--TEST--
bloomshm.mode is the mode of the file, whatever the umask
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/mode.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach (['0600' => 0777, '0660' => 0077, '0640' => 0, '0666' => 0027] as $mode => $umask) {
    $ini = ['bloomshm.mode' => $mode, 'bloomshm.path' => segment() . $mode];
    echo Child::run("umask($umask); bloom_reserve('f', 10, expansion: 0); var_dump(bloom_status()['mode'] === $mode);", $ini);
    printf("%o\n", fileperms(segment() . $mode));
}
?>
--EXPECT--
bool(true)
100600
bool(true)
100660
bool(true)
100640
bool(true)
100666
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

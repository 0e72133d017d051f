--TEST--
A process that changes its root folder is not told that its file was removed
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/chroot.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (!function_exists('chroot')) { die('skip this PHP has no chroot()'); }
if (posix_geteuid() !== 0) { die('skip only root may change the root folder'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

mkdir(scratch('.root'));
bloom_load('f', ['a']);
echo Child::run(<<<'PHP'
    var_dump(bloom_maybe_has('f', 'b'));
    chroot(scratch('.root'));
    echo bloom_status()['reason'], "\n";
    // What the file holds by now cannot be told from here: maybe.
    var_dump(bloom_maybe_has('f', 'b'));
    PHP);
var_dump(bloom_maybe_has('f', 'b'));
done();
?>
--EXPECTF--
bool(false)
no segment yet at %schroot.seg: the file that this process was attached to was removed or renamed, or lies outside of the root folder; the first call that stores something creates it
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

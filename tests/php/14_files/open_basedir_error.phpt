--TEST--
open_basedir holds for dumps and restores
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/open_basedir_error.seg
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a']);
bloom_dump('f', scratch());
ini_set('open_basedir', __DIR__);
echo code_name(0), "\n";
foreach (['/etc/bloomshm-dump', '../../bloomshm-dump'] as $path) {
    echo @thrown_by(fn () => bloom_dump('f', $path)), "\n";
    echo @thrown_by(fn () => bloom_restore('f', $path)), "\n";
}
var_dump(bloom_restore('f', scratch()));
done();
?>
--EXPECTF--
unknown code 0
BloomShm\Exception IO: open_basedir does not allow the file /etc/bloomshm-dump
BloomShm\Exception IO: open_basedir does not allow the file /etc/bloomshm-dump
BloomShm\Exception IO: open_basedir does not allow the file ../../bloomshm-dump
BloomShm\Exception IO: open_basedir does not allow the file ../../bloomshm-dump
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

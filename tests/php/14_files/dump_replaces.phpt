--TEST--
A dump takes the place of an older file, or of a link, in one step
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/dump_replaces.seg
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('k', 100));
file_put_contents(scratch(), 'older');
$open = fopen(scratch(), 'r');
bloom_dump('f', scratch());
var_dump(fread($open, 100), bloom_restore('g', scratch()));
file_put_contents(scratch('-target'), 'untouched');
symlink(scratch('-target'), scratch('-link'));
bloom_dump('f', scratch('-link'));
var_dump(file_get_contents(scratch('-target')), is_link(scratch('-link')), bloom_restore('g', scratch('-link')));
chdir(__DIR__);
bloom_dump('f', basename(scratch('-relative')));
var_dump(bloom_restore('g', scratch('-relative')));
done();
?>
--EXPECTF--
string(5) "older"
bool(true)
string(9) "untouched"
bool(false)
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

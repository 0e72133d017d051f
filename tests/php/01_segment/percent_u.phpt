--TEST--
%u in bloomshm.path is the effective user id
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.filter_memory=1M
bloomshm.path={PWD}/percent_u.seg.%u
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 10, expansion: 0);
$path = __DIR__ . '/percent_u.seg.' . posix_geteuid();
var_dump(file_exists($path), bloom_status()['path'] === $path, bloom_status()['owner_uid'] === posix_geteuid());
done();
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
The settings, their defaults, and that only the system may change them
--EXTENSIONS--
bloomshm
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$settings = ini_get_all('bloomshm');
foreach (['enable', 'path', 'filter_memory', 'cache_memory', 'mode', 'readonly', 'missing_filter', 'huge_pages'] as $name) {
    ['global_value' => $value, 'access' => $access] = $settings["bloomshm.$name"];
    echo "$name=$value", $access === INI_SYSTEM ? '' : " may be changed by others: $access", "\n";
    check(ini_set("bloomshm.$name", '1') === false, "$name can be set at run time");
}
?>
--EXPECTF--
enable=1
path=%r(\/dev\/shm\/bloomshm\.%u|%ProgramData%\\bloomshm\\%u\.seg)%r
filter_memory=32M
cache_memory=16M
mode=0600
readonly=0
missing_filter=maybe
huge_pages=0

--TEST--
The extension's name, version and what it brings
--EXTENSIONS--
bloomshm
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$extension = new ReflectionExtension('bloomshm');
$version = (string) $extension->getVersion();
var_dump($extension->getName(), preg_match('/^\d+\.\d+\.\d+/', $version), $version === phpversion('bloomshm'));
var_dump(array_keys($extension->getClasses()), $extension->getConstants());
?>
--EXPECT--
string(8) "bloomshm"
int(1)
bool(true)
array(1) {
  [0]=>
  string(18) "BloomShm\Exception"
}
array(0) {
}

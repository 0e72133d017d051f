--TEST--
BloomShm\Exception is a RuntimeException with a constant for each code
--EXTENSIONS--
bloomshm
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$class = new ReflectionClass(BloomShm\Exception::class);
var_dump($class->getParentClass()->getName());
echo implode(', ', array_keys($class->getConstants())), "\n";
$codes = array_values(array_diff_key($class->getConstants(), (new ReflectionClass(RuntimeException::class))->getConstants()));
var_dump(count(array_unique($codes)) === 13, min($codes) > 0);
$e = new BloomShm\Exception('message', BloomShm\Exception::IO);
var_dump($e->getMessage(), $e->getCode() === BloomShm\Exception::IO);
?>
--EXPECT--
string(16) "RuntimeException"
UNAVAILABLE, NO_SPACE, FULL, EMPTY, EXISTS, NOT_FOUND, INCOMPATIBLE, ERROR_RATE, CORRUPT, RANGE, READ_ONLY, TIMEOUT, IO
bool(true)
bool(true)
string(7) "message"
bool(true)

--TEST--
Every function and constant of the IDE stub has a docblock
--EXTENSIONS--
bloomshm
--SKIPIF--
<?php
if (!is_file(__DIR__ . '/../../../stubs/bloomshm.php')) { die('skip the stubs are not beside the tests'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$code = <<<'PHP'
    require $argv[1];
    foreach (get_defined_functions()['user'] as $name) {
        $function = new ReflectionFunction($name);
        $comment = (string) $function->getDocComment();
        foreach ($function->getParameters() as $parameter) {
            if (!preg_match('/@param [^\n]*\$' . $parameter->getName() . '\b/', $comment)) {
                echo "$name(): no @param \${$parameter->getName()}\n";
            }
        }
        if (!str_contains($comment, '@return')) {
            echo "$name(): no @return\n";
        }
    }
    foreach ((new ReflectionClass(BloomShm\Exception::class))->getReflectionConstants() as $constant) {
        if ($constant->getDocComment() === false) {
            echo "{$constant->getName()}: no docblock\n";
        }
    }
    echo "done\n";
    PHP;
$php = getenv('TEST_PHP_EXECUTABLE') ?: PHP_BINARY;
$stub = realpath(__DIR__ . '/../../../stubs/bloomshm.php');
echo shell_exec(escapeshellarg($php) . ' -n -r ' . escapeshellarg($code) . ' -- ' . escapeshellarg($stub));
?>
--EXPECT--
done

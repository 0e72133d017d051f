--TEST--
The IDE stub declares what the extension has: functions, parameters, types, defaults, constants
--EXTENSIONS--
bloomshm
--SKIPIF--
<?php
if (!is_file(__DIR__ . '/../../../stubs/bloomshm.php')) { die('skip the stubs are not beside the tests'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// The same description from both sides; the stub is described by a PHP process that does not have the extension.
$describe = <<<'PHP'
    $describe = function (array $functions, ReflectionClass $exception): array {
        $type = function (?ReflectionType $type): string {
            // iterable is the same as Traversable|array, and is written as either.
            $names = explode('|', str_replace('iterable', 'Traversable|array', (string) $type));
            sort($names);
            return implode('|', $names);
        };
        $described = [];
        foreach ($functions as $name) {
            $function = new ReflectionFunction($name);
            $described["$name()"]['return'] = $type($function->getReturnType());
            $described["$name()"]['deprecated'] = $function->isDeprecated();
            foreach ($function->getParameters() as $parameter) {
                $described["$name()"]['parameters'][] = [
                    'name' => $parameter->getName(),
                    // The Zend engine does not check the type of what is given by reference: it is in the docblock only.
                    'type' => $parameter->isPassedByReference() ? 'by reference' : $type($parameter->getType()),
                    'default' => $parameter->isDefaultValueAvailable() ? var_export($parameter->getDefaultValue(), true) : 'none',
                    'variadic' => $parameter->isVariadic(),
                ];
            }
        }
        $described['exception'] = [
            'name' => $exception->getName(),
            'parent' => $exception->getParentClass()->getName(),
            'final' => $exception->isFinal(),
            'constants' => array_map(fn ($c) => [$c->getValue(), $c->isPublic()], $exception->getReflectionConstants() ?: []),
            'names' => array_map(fn ($c) => $c->getName(), $exception->getReflectionConstants()),
        ];
        ksort($described);
        return $described;
    };
    PHP;
$stub = realpath(__DIR__ . '/../../../stubs/bloomshm.php');
$code = $describe . <<<'PHP'
    extension_loaded('bloomshm') && die('the extension is loaded');
    require $argv[1];
    $functions = array_filter(get_defined_functions()['user'], fn ($name) => str_starts_with($name, 'bloom_'));
    echo json_encode($describe($functions, new ReflectionClass(BloomShm\Exception::class)));
    PHP;
$php = getenv('TEST_PHP_EXECUTABLE') ?: PHP_BINARY;
$output = shell_exec(escapeshellarg($php) . ' -n -r ' . escapeshellarg($code) . ' -- ' . escapeshellarg($stub));
$of_stub = json_decode((string) $output, true) ?? die("the stub: $output");

eval($describe);
$functions = array_keys((new ReflectionExtension('bloomshm'))->getFunctions());
$of_extension = json_decode(json_encode($describe($functions, new ReflectionClass(BloomShm\Exception::class))), true);

foreach (array_keys($of_stub + $of_extension) as $name) {
    check_same($of_extension[$name] ?? null, $of_stub[$name] ?? null, $name);
}
var_dump(count($of_stub) > 40);
?>
--EXPECT--
bool(true)

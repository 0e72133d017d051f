<?php

declare(strict_types=1);

namespace BloomShm\Tests\Polyfill;

use BloomShm\Polyfill\Status;
use PHPUnit\Framework\Attributes\Group;
use PHPUnit\Framework\TestCase;

/**
 * The polyfill has the functions, the constants and the class of the extension: other processes
 * without the extension include what the extension is built from, and the polyfill.
 */
#[Group('disabled')]
final class SignaturesTest extends TestCase
{
    private const PROJECT = __DIR__ . '/../../..';

    /** Prints the functions that were defined, as JSON. */
    private const FUNCTIONS = <<<'PHP'
        $signatures = [];
        foreach (get_defined_functions()['user'] as $name) {
            $function = new ReflectionFunction($name);
            $parameters = implode(', ', $function->getParameters());
            $signatures[$name] = $parameters . ': ' . $function->getReturnType();
        }
        ksort($signatures);
        echo json_encode($signatures);
        PHP;

    private const CONSTANTS = <<<'PHP'
        echo json_encode((new ReflectionClass(BloomShm\Exception::class))->getConstants());
        PHP;

    public function testEveryFunctionHasTheExtensionsSignature(): void
    {
        $extension = self::tell('stubs/bloomshm.stub.php', self::FUNCTIONS);
        self::assertGreaterThan(40, \count($extension));
        self::assertSame($extension, self::tell('php/src/Polyfill/functions.php', self::FUNCTIONS));
    }

    public function testTheExceptionHasTheExtensionsConstants(): void
    {
        $extension = self::tell('stubs/bloomshm.php', self::CONSTANTS);
        self::assertCount(13, $extension);
        self::assertSame($extension, self::tell('php/src/Exception.php', self::CONSTANTS));
    }

    public function testNothingIsDefinedWhereTheExtensionIsLoaded(): void
    {
        require __DIR__ . '/../../src/polyfill.php';
        $function = new \ReflectionFunction('bloom_fetch');
        self::assertSame(\extension_loaded('bloomshm'), $function->isInternal());
        \bloom_fetch('f', 'key', static fn() => 1);
        self::assertNotSame($function->isInternal(), \class_exists(Status::class, false));
    }

    /** @return array<mixed> */
    private static function tell(string $file, string $code): array
    {
        $code = 'require ' . \var_export(self::PROJECT . "/$file", true) . ';' . $code;
        $output = \shell_exec(\escapeshellarg(\PHP_BINARY) . ' -n -r ' . \escapeshellarg($code));
        return (array) \json_decode((string) $output, true, flags: \JSON_THROW_ON_ERROR);
    }
}

<?php

declare(strict_types=1);

namespace BloomShm\Tests\Laravel;

use BloomShm\Laravel\BloomShmStore;
use Illuminate\Container\Container;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Bootstrap\BootProviders;
use Illuminate\Foundation\Bootstrap\LoadConfiguration;
use Illuminate\Foundation\Bootstrap\RegisterFacades;
use Illuminate\Foundation\Bootstrap\RegisterProviders;
use Illuminate\Support\Carbon;
use Illuminate\Support\Facades\Facade;
use PHPUnit\Framework\TestCase;

/**
 * Boots the application in build/library/laravel for each test, with the store emptied. Laravel's
 * own error handler is left out: PHPUnit's reports what the library does wrong.
 */
abstract class LaravelTestCase extends TestCase
{
    protected Application $app;

    public static function setUpBeforeClass(): void
    {
        require_once self::folder() . '/vendor/autoload.php';
    }

    protected function setUp(): void
    {
        putenv('CACHE_STORE=bloomshm');
        $this->app = require self::folder() . '/bootstrap/app.php';
        $this->app->bootstrapWith([
            LoadConfiguration::class,
            RegisterFacades::class,
            RegisterProviders::class,
            BootProviders::class,
        ]);
        \bloom_cache_clear();
    }

    protected function tearDown(): void
    {
        Carbon::setTestNow();
        Facade::clearResolvedInstances();
        Facade::setFacadeApplication(null);
        Container::setInstance();
        putenv('CACHE_STORE');
    }

    protected static function folder(): string
    {
        return dirname(__DIR__, 3) . '/build/library/laravel';
    }

    protected function store(string $prefix = 'test'): BloomShmStore
    {
        return new BloomShmStore($prefix);
    }

    /**
     * Starts PHP in the mode of this run. Its standard output is a pipe.
     *
     * @param list<string> $arguments
     * @return array{resource, resource} The process and its output.
     */
    protected function start(array $arguments): array
    {
        $command = [...explode(' ', (string) getenv('BLOOMSHM_TEST_PHP')), ...$arguments];
        $process = proc_open($command, [1 => ['pipe', 'w'], 2 => STDERR], $pipes, self::folder());
        self::assertIsResource($process);

        return [$process, $pipes[1]];
    }

    /**
     * Runs PHP in the mode of this run to its end.
     *
     * @return array{int, string} Exit status and output.
     */
    protected function runPhp(string ...$arguments): array
    {
        [$process, $output] = $this->start(array_values($arguments));
        $text = (string) stream_get_contents($output);

        return [proc_close($process), $text];
    }
}

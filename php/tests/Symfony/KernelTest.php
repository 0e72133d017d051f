<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony;

use BloomShm\Symfony\BloomShmAdapter;
use BloomShm\Tests\Symfony\Fixture\App;
use BloomShm\Tests\Symfony\Fixture\Child;
use BloomShm\Tests\Symfony\Fixture\Page;
use PHPUnit\Framework\Attributes\Group;
use PHPUnit\Framework\TestCase;
use Symfony\Bundle\FrameworkBundle\Console\Application;
use Symfony\Component\Console\Input\ArrayInput;
use Symfony\Component\Console\Output\BufferedOutput;
use Symfony\Component\Filesystem\Filesystem;
use Symfony\Contracts\Cache\ItemInterface;

/**
 * The framework, booted with the configuration of php/README.md.
 */
final class KernelTest extends TestCase
{
    private static string $folder;
    private App $app;

    public static function setUpBeforeClass(): void
    {
        self::$folder = \sys_get_temp_dir() . '/bloomshm-app.' . \getmypid();
        (new Filesystem())->mkdir(self::$folder);
    }

    public static function tearDownAfterClass(): void
    {
        (new Filesystem())->remove(self::$folder);
    }

    protected function setUp(): void
    {
        \bloom_cache_clear();
        $this->app = self::boot();
    }

    protected function tearDown(): void
    {
        $this->app->shutdown();
        while (true) { // the kernel's handlers
            $handler = \set_exception_handler(null);
            \restore_exception_handler();
            if ($handler === null) {
                break;
            }
            \restore_exception_handler();
        }
    }

    public function testTheConfigurationMakesItTheCacheOfTheApplication(): void
    {
        $page = self::page($this->app);
        self::assertInstanceOf(BloomShmAdapter::class, $page->pool);
        self::assertSame($page->pool, $page->cache);

        self::assertSame(1, $page->cache->get('key', static fn(): int => 1));
        self::assertSame(1, $page->cache->get('key', static fn(): int => 2));
        self::assertCount(1, self::stored(':key'));
        $this->app->getContainer()->get('services_resetter')->reset();
        self::assertSame(1, $page->cache->get('key', static fn(): int => 3));
    }

    public function testANewBuildClearsThePoolsThatHaveAVersion(): void
    {
        $build = $this->app->getContainer()->getParameter('container.build_id');
        self::assertIsString($build);
        self::page($this->app)->cache->get('key', static fn(): int => 1);
        $kept = $this->app->getContainer()->get('kept');
        self::assertInstanceOf(BloomShmAdapter::class, $kept);
        $kept->get('key', static fn(): int => 1);
        self::assertCount(2, self::stored(':key'));
        // another build has written these items
        foreach (self::stored('') as $key) {
            if (\str_starts_with($key, "$build@")) {
                \bloom_cache_delete($key);
            }
        }
        $this->app->shutdown();
        $this->app = self::boot();

        self::assertSame(2, self::page($this->app)->cache->get('key', static fn(): int => 2));
        $kept = $this->app->getContainer()->get('kept');
        self::assertSame(1, $kept?->get('key', static fn(): int => 2));
    }

    public function testTagsArePoolWide(): void
    {
        $page = self::page($this->app);
        foreach ([$page->tags, $page->articlesCache] as $pool) {
            $load = static function (ItemInterface $item): string {
                $item->tag('news');
                return 'first';
            };
            self::assertSame('first', $pool->get('tagged', $load));
            self::assertSame('first', $pool->get('tagged', static fn(): string => 'second'));
            self::assertTrue($pool->invalidateTags(['news']));
            self::assertSame('second', $pool->get('tagged', static fn(): string => 'second'));
        }
    }

    public function testTheConsoleClearsPools(): void
    {
        $page = self::page($this->app);
        \bloom_cache_set('key', 'of others');
        $page->cache->get('key', static fn(): int => 1);
        $page->articlesCache->get('key', static fn(): int => 1);

        self::assertStringContainsString('articles.cache', $this->console('cache:pool:list'));
        $this->console('cache:pool:clear', ['pools' => ['articles.cache']]);
        self::assertSame(2, $page->articlesCache->get('key', static fn(): int => 2));
        self::assertSame(1, $page->cache->get('key', static fn(): int => 2));
        $this->console('cache:pool:delete', ['pool' => 'cache.app', 'key' => 'key']);
        self::assertSame(2, $page->cache->get('key', static fn(): int => 2));
        $this->console('cache:pool:prune');
        $this->console('cache:pool:clear', ['pools' => ['cache.app_clearer']]);
        self::assertSame(3, $page->cache->get('key', static fn(): int => 3));
        $this->console('cache:pool:clear', ['--all' => true]);
        self::assertSame(4, $page->cache->get('key', static fn(): int => 4));
        self::assertSame('of others', \bloom_cache_get('key'));
    }

    #[Group('extension')]
    public function testTwoProcessesServeOneCache(): void
    {
        $work = static function (): array {
            $page = self::page(self::boot());
            $found = $loaded = 0;
            for ($i = 0; $i < 2000; $i++) {
                $key = 'key.' . $i % 100;
                $value = $page->articlesCache->get(
                    $key,
                    static function (ItemInterface $item) use ($key, &$loaded): string {
                        $loaded++;
                        $item->tag(['articles', $key])->expiresAfter(100);
                        return "value of $key";
                    },
                );
                $found += (int) ($value === "value of $key");
            }
            return [$found, $loaded];
        };
        $child = Child::run($work);
        [$found, $loaded] = $work();
        [$found_by_child, $loaded_by_child] = $child->result();

        self::assertSame([2000, 2000], [$found, $found_by_child]);
        self::assertLessThan(2000, $loaded + $loaded_by_child);
        $pool = self::page($this->app)->articlesCache;
        $pool->invalidateTags(['key.7']);
        self::assertSame('new', $pool->get('key.7', static fn(): string => 'new'));
    }

    public function testAFloodOfAnotherProcessMakesNoPageWrong(): void
    {
        $flood = Child::run(static function (): void {
            for ($i = 0;; $i++) {
                \bloom_cache_set("flood $i", \str_repeat('x', $i % 5000));
            }
        });
        $page = self::page($this->app);
        for ($i = 0; $i < 2000; $i++) {
            $key = 'key.' . $i % 100;
            $load = static fn(ItemInterface $item): string => $item->tag('all')->getKey();
            self::assertSame($key, $page->articlesCache->get($key, $load));
        }
        unset($flood);
    }

    #[Group('only-disabled')]
    public function testADisabledStoreComputesEachTime(): void
    {
        $page = self::page($this->app);
        foreach ([$page->cache, $page->tags, $page->articlesCache] as $pool) {
            self::assertSame(1, $pool->get('key', static fn(): int => 1));
            self::assertSame(2, $pool->get('key', static fn(): int => 2));
        }
        $page->tags->invalidateTags(['tag']);
        $this->console('cache:pool:clear', ['--all' => true]);
    }

    #[Group('extension')]
    public function testTheConstraintNeedsNoConfiguration(): void
    {
        \bloom_load('breached-passwords', [\strtoupper(\sha1('password'))], 0.0001);
        $page = self::page($this->app);
        $page->password = 'password';
        self::assertCount(1, $page->validator->validate($page));
        $page->password = 'correct horse battery staple';
        self::assertCount(0, $page->validator->validate($page));
        \bloom_drop('breached-passwords');
    }

    private static function boot(): App
    {
        $app = new App(self::$folder);
        $app->boot();
        return $app;
    }

    private static function page(App $app): Page
    {
        $page = $app->getContainer()->get(Page::class);
        self::assertInstanceOf(Page::class, $page);
        return $page;
    }

    /**
     * @param array<string, mixed> $arguments
     */
    private function console(string $command, array $arguments = []): string
    {
        $console = new Application($this->app);
        $console->setAutoExit(false);
        $console->setCatchExceptions(false);
        $output = new BufferedOutput();
        $status = $console->run(new ArrayInput(['command' => $command] + $arguments), $output);
        $text = $output->fetch();
        self::assertSame(0, $status, $text);
        return $text;
    }

    /**
     * @return list<string> The keys of the store that end so.
     */
    private static function stored(string $end): array
    {
        $keys = [];
        $cursor = 0;
        do {
            foreach (\bloom_cache_scan($cursor) as $key => $value) {
                $keys[] = (string) $key;
            }
        } while ($cursor !== 0);
        return \array_values(
            \array_filter($keys, static fn(string $key): bool => \str_ends_with($key, $end)),
        );
    }
}

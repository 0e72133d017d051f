<?php

declare(strict_types=1);

namespace BloomShm\Tests\Cache;

use BloomShm\Cache\SimpleCache;
use BloomShm\Tests\Cache\Fixture\Changed;
use BloomShm\Tests\Patience;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;
use PHPUnit\Framework\TestCase;
use Psr\SimpleCache\InvalidArgumentException;

final class SimpleCacheTest extends TestCase
{
    private const SECONDS_MAX = 315360000;

    /** @var list<int> */
    private array $children = [];

    protected function setUp(): void
    {
        \bloom_cache_clear();
    }

    protected function tearDown(): void
    {
        foreach ($this->children as $child) {
            \posix_kill($child, \SIGKILL);
            \pcntl_waitpid($child, $status);
        }
    }

    public function testNamespacesHaveKeysOfTheirOwn(): void
    {
        $caches = [];
        foreach (['', 'a', 'ab'] as $name) {
            $cache = $caches[$name] = new SimpleCache($name);
            $cache->set('key', "of $name");
        }
        foreach ($caches as $name => $cache) {
            self::assertSame("of $name", $cache->get('key'));
            self::assertSame("of $name", \bloom_cache_get("$name:key"));
        }
        self::assertSame('of a', (new SimpleCache('a'))->get('key'));
    }

    public function testClearRemovesItsNamespaceOnly(): void
    {
        $load = static fn(): string => 'loaded';
        $loaders = 0;
        $count = static function () use (&$loaders): string {
            $loaders++;
            return 'again';
        };
        \bloom_cache_set('key', 'of the application');
        \bloom_fetch('filter', 'key', $load);
        $caches = [new SimpleCache(), new SimpleCache('a'), new SimpleCache('ab')];
        foreach ($caches as $cache) {
            $cache->setMultiple(['key' => 1, 'other' => 2]);
        }
        self::assertTrue($caches[0]->clear());
        self::assertTrue($caches[1]->clear());
        $left = static fn(SimpleCache $cache): array => [$cache->get('key'), $cache->get('other')];
        self::assertSame([[null, null], [null, null], [1, 2]], \array_map($left, $caches));
        self::assertSame('of the application', \bloom_cache_get('key'));
        self::assertSame('loaded', \bloom_fetch('filter', 'key', $count));
        self::assertSame(0, $loaders);
    }

    public function testKeysOfDigits(): void
    {
        $cache = new SimpleCache('digits');
        self::assertTrue($cache->setMultiple(['7' => 'seven', '08' => 'eight', 'nine' => 9]));
        self::assertSame('seven', $cache->get('7'));
        $values = $cache->getMultiple(['7', '08', '10'], 'none');
        self::assertSame([7 => 'seven', '08' => 'eight', 10 => 'none'], $values);
        self::assertTrue($cache->deleteMultiple(['7', '10']));
        self::assertFalse($cache->has('7'));
    }

    public function testEveryKeyComesOnceAndInOrder(): void
    {
        $cache = new SimpleCache();
        $cache->set('b', 1);
        $keys = (static function (): \Generator {
            yield 'same' => 'c';
            yield 'same' => 'b';
            yield 'same' => 'c';
        })();
        self::assertSame(['c' => null, 'b' => 1], $cache->getMultiple($keys));
        self::assertSame([], $cache->getMultiple([]));
        self::assertTrue($cache->setMultiple([]));
    }

    public function testNullAndFalseAreValues(): void
    {
        $cache = new SimpleCache();
        $cache->setMultiple(['null' => null, 'false' => false]);
        self::assertTrue($cache->has('null'));
        self::assertNull($cache->get('null', 'default'));
        self::assertFalse($cache->get('false', 'default'));
        $values = $cache->getMultiple(['false', 'null', 'none'], 'x');
        self::assertSame(['false' => false, 'null' => null, 'none' => 'x'], $values);
    }

    /** @return array<array{mixed, bool}> The ttl, and whether the value is there afterwards. */
    public static function ttls(): array
    {
        return [
            [null, true], [1000, true], [self::SECONDS_MAX, true], [self::SECONDS_MAX + 1, true],
            [\PHP_INT_MAX, true],
            [0, false], [-1, false], [\PHP_INT_MIN, false],
            [new \DateInterval('PT10M'), true], [new \DateInterval('P1M'), true],
            [new \DateInterval('P100Y'), true], [new \DateInterval('PT0S'), false],
            [\DateInterval::createFromDateString('-1 day'), false],
        ];
    }

    #[DataProvider('ttls')]
    public function testEveryTtl(mixed $ttl, bool $there): void
    {
        $cache = new SimpleCache('ttl');
        $default = new SimpleCache('default', $ttl);
        $cache->set('key', 'old');
        self::assertTrue($cache->set('key', 'value', $ttl));
        self::assertSame($there ? 'value' : null, $cache->get('key'));
        $cache->set('many', 'old');
        self::assertTrue($cache->setMultiple(['many' => 'value', 'new' => 1], $ttl));
        $expected = $there ? ['many' => 'value', 'new' => 1] : ['many' => null, 'new' => null];
        self::assertSame($expected, $cache->getMultiple(['many', 'new']));
        $default->set('key', 'value');
        self::assertSame($there, $default->has('key'));
        $default->set('key', 'value', 100);
        self::assertTrue($default->has('key'));
    }

    public function testADefaultTtlEnds(): void
    {
        $cache = new SimpleCache('short', new \DateInterval('PT1S'));
        $cache->setMultiple(['a' => 1, 'b' => 2]);
        $cache->set('long', 3, 100);
        \sleep(3);
        $values = $cache->getMultiple(['a', 'b', 'long']);
        self::assertSame(['a' => null, 'b' => null, 'long' => 3], $values);
    }

    public function testAValueThatCannotBeReadIsAMissAndTakesNoOtherDown(): void
    {
        $cache = new SimpleCache();
        $cache->setMultiple(['a' => 1, 'changed' => new Changed(), '3' => 3]);
        self::assertSame('default', $cache->get('changed', 'default'));
        $values = $cache->getMultiple(['a', 'changed', '3'], 'x');
        self::assertSame(['a' => 1, 'changed' => 'x', 3 => 3], $values);
    }

    public function testAClosureIsNotStoredAndTheOthersAre(): void
    {
        $cache = new SimpleCache();
        self::assertFalse($cache->set('closure', static fn(): int => 1));
        $values = ['a' => 1, 'closure' => static fn(): int => 1, 'resource' => \STDIN, 'b' => 2];
        self::assertFalse($cache->setMultiple($values));
        $stored = $cache->getMultiple(\array_keys($values));
        self::assertSame(['a' => 1, 'closure' => null, 'resource' => null, 'b' => 2], $stored);
    }

    public function testAValueThatIsTooLargeIsNotStoredAndTheOlderOneIsGone(): void
    {
        $cache = new SimpleCache();
        $large = \str_repeat('x', 64 << 20);
        $cache->set('key', 'old');
        self::assertFalse($cache->set('key', $large));
        self::assertFalse($cache->has('key'));
        self::assertFalse($cache->setMultiple(['a' => 1, 'key' => $large]));
        self::assertSame(1, $cache->get('a'));
    }

    public function testKeysMayBeLong(): void
    {
        $cache = new SimpleCache('name');
        $longest = \str_repeat('k', 65530);
        self::assertTrue($cache->set($longest, 'value'));
        self::assertSame('value', $cache->get($longest));
        self::assertTrue($cache->delete($longest));
        $this->expectException(InvalidArgumentException::class);
        $cache->get($longest . 'k');
    }

    /** @return array<array{string}> */
    public static function badNamespaces(): array
    {
        return [['a:b'], ['{'], ['a/b'], [\str_repeat('n', 1001)]];
    }

    #[DataProvider('badNamespaces')]
    public function testANamespaceHasTheCharactersOfAKey(string $namespace): void
    {
        $this->expectException(InvalidArgumentException::class);
        new SimpleCache($namespace);
    }

    #[Group('extension')]
    public function testProcessesShareValues(): void
    {
        $cache = new SimpleCache('shared');
        $cache->set('turn', 0);
        $this->fork(static function () use ($cache): void {
            for ($i = 0; $i < 100; $i++) {
                while ($cache->get('turn') !== 2 * $i) {
                    \usleep(50);
                }
                $cache->setMultiple(['turn' => 2 * $i + 1, 'object' => (object) ['n' => $i]]);
            }
        });
        for ($i = 0; $i < 100; $i++) {
            $this->waitFor(static fn(): bool => $cache->get('turn') === 2 * $i + 1);
            $cache->delete('object');
            $cache->set('turn', 2 * $i + 2);
        }
        self::assertSame(200, $cache->get('turn'));
    }

    #[Group('only-small')]
    public function testInAFullStoreAValueIsRightOrAbsent(): void
    {
        $cache = new SimpleCache('small');
        $parent = \posix_getpid();
        $this->fork(static function () use ($parent): void {
            $flood = new SimpleCache('flood');
            for ($i = 0; \posix_getppid() === $parent; $i++) {
                $flood->set('key' . $i % 5000, \str_repeat('x', $i % 4000));
            }
        });
        $this->waitFor(static fn(): bool => \bloom_cache_info()['evictions'] >= 100);
        $found = 0;
        for ($i = 0; $i < 20000; $i++) {
            $key = 'key' . $i % 50;
            $value = $cache->get($key);
            if ($value === null) {
                $cache->set($key, ['id' => $key, 'text' => \str_repeat($key, 20)]);
            } else {
                self::assertSame(['id' => $key, 'text' => \str_repeat($key, 20)], $value);
                $found++;
            }
        }
        self::assertGreaterThan(0, $found);
        self::assertTrue(Patience::with(static fn(): bool => $cache->clear()));
    }

    #[Group('only-disabled')]
    public function testWithoutAStoreEverythingIsAMissAndNothingThrows(): void
    {
        $cache = new SimpleCache('off', 10);
        self::assertFalse($cache->set('key', 'value'));
        self::assertFalse($cache->setMultiple(['key' => 1, 'other' => static fn(): int => 1]));
        self::assertNull($cache->get('key'));
        self::assertSame('default', $cache->get('key', 'default'));
        self::assertSame(['a' => 'x', 'b' => 'x'], $cache->getMultiple(['a', 'b'], 'x'));
        self::assertFalse($cache->has('key'));
        self::assertTrue($cache->delete('key'));
        self::assertTrue($cache->deleteMultiple(['a', 'b']));
        self::assertTrue($cache->set('key', 'value', 0));
        self::assertTrue($cache->clear());
    }

    /** Runs only the function, in a process that ends with the test. */
    private function fork(\Closure $run): void
    {
        $child = \pcntl_fork();
        if ($child === 0) {
            try {
                $run();
            } finally {
                \posix_kill(\posix_getpid(), \SIGKILL);
            }
        }
        $this->children[] = $child;
    }

    /** Waits for what another process does, and fails if that has ended without it. */
    private function waitFor(\Closure $isDone): void
    {
        $ended = false;
        while (!$isDone()) {
            self::assertFalse($ended, 'the other process has ended');
            foreach ($this->children as $child) {
                $ended = \pcntl_waitpid($child, $status, \WNOHANG) !== 0 || $ended;
            }
            \usleep(50);
        }
    }
}

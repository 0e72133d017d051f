<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony;

use BloomShm\Cache\SimpleCache;
use BloomShm\Symfony\BloomShmAdapter;
use BloomShm\Tests\Patience;
use BloomShm\Tests\Symfony\Fixture\Child;
use PHPUnit\Framework\Attributes\Group;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Cache\Adapter\ArrayAdapter;
use Symfony\Component\Cache\Adapter\ChainAdapter;
use Symfony\Component\Cache\Adapter\TagAwareAdapter;
use Symfony\Component\Cache\Psr16Cache;

/**
 * Two processes at once.
 */
final class ProcessesTest extends TestCase
{
    protected function setUp(): void
    {
        \bloom_cache_clear();
    }

    #[Group('extension')]
    public function testWhatOneProcessSavesTheOtherFinds(): void
    {
        $tags = static fn(): TagAwareAdapter => new TagAwareAdapter(new BloomShmAdapter('tags'));
        Child::run(static function () use ($tags): void {
            (new Psr16Cache(new BloomShmAdapter('psr-16')))->set('key', ['a' => 1]);
            $pool = $tags();
            $pool->save($pool->getItem('red')->set(1)->tag('colour'));
            $pool->save($pool->getItem('soft')->set(2)->tag('feel'));
        })->result();

        self::assertSame(['a' => 1], (new Psr16Cache(new BloomShmAdapter('psr-16')))->get('key'));
        $chain = new ChainAdapter([new ArrayAdapter(), new BloomShmAdapter('psr-16')]);
        self::assertSame(['a' => 1], $chain->getItem('key')->get());
        self::assertSame(1, $tags()->getItem('red')->get());
        Child::run(static fn(): bool => $tags()->invalidateTags(['colour']))->result();
        self::assertFalse($tags()->getItem('red')->isHit());
        self::assertSame(2, $tags()->getItem('soft')->get());
    }

    public function testBothWriteTheSameKeys(): void
    {
        $work = static function (string $writer): int {
            $pool = new BloomShmAdapter('app');
            $wrong = 0;
            for ($i = 0; $i < 3000; $i++) {
                $key = 'key.' . $i % 20;
                $pool->save($pool->getItem($key)->set(\array_fill(0, 30, "$key of $writer")));
                $value = $pool->getItem($key)->get() ?? [];
                $wrong += \count(\array_unique($value)) > 1
                    || !\str_starts_with($value[0] ?? $key, $key);
                if ($i % 50 === 0) {
                    $pool->deleteItem('key.' . $i % 7);
                }
            }
            return $wrong;
        };
        $child = Child::run(static fn(): int => $work('one'));

        self::assertSame(0, $work('two'));
        self::assertSame(0, $child->result());
    }

    public function testAFloodEvictsAndFalsifiesNothing(): void
    {
        $child = Child::run(static function (): void {
            $pool = new BloomShmAdapter('flood');
            for ($i = 0;; $i++) {
                $pool->save($pool->getItem("key.$i")->set(\str_repeat('x', 100 + $i % 3000)));
            }
        });
        $pool = new TagAwareAdapter(new BloomShmAdapter('app'));
        $asked = ['right' => 0, 'missed' => 0];
        for ($i = 0; $i < 4000; $i++) {
            $key = 'key.' . $i % 200;
            $item = $pool->getItem($key);
            if ($item->isHit()) {
                self::assertSame("value of $key", $item->get());
                $asked['right']++;
            } else {
                $pool->save($item->set("value of $key")->tag('tag'));
                $asked['missed']++;
            }
        }
        unset($child);
        self::assertGreaterThan(0, $asked['right']);
        self::assertGreaterThanOrEqual(200, $asked['missed']);
    }

    #[Group('extension')]
    public function testADeletionThatGetsNoLockSaysSo(): void
    {
        $pool = new BloomShmAdapter('app');
        self::assertFalse($this->whileLocked(static fn() => $pool->deleteItem('key')));
        self::assertSame('value', $pool->getItem('key')->get());
        self::assertTrue($pool->deleteItem('key'));
    }

    #[Group('extension')]
    public function testAClearThatGetsNoLockSaysSo(): void
    {
        $pool = new BloomShmAdapter('app');
        self::assertFalse($this->whileLocked(static fn() => $pool->clear()));
        self::assertSame('value', $pool->getItem('key')->get());
        $cache = new SimpleCache('app');
        self::assertFalse($this->whileLocked(static fn() => $cache->clear()));
        self::assertTrue($cache->has('key'));
        self::assertTrue($cache->clear());
        self::assertFalse($pool->hasItem('key'));
    }

    /**
     * A process is stopped until it happens to hold the lock.
     *
     * @param \Closure(): bool $change What removes the item "key" of the pool "app".
     * @return bool What it says then.
     */
    private function whileLocked(\Closure $change): bool
    {
        $pool = new BloomShmAdapter('app');
        $child = Child::run(static function (): void {
            $pool = new BloomShmAdapter('busy');
            $item = $pool->getItem('key')->set(\str_repeat('x', 2000));
            while (true) {
                $pool->save($item);
            }
        });
        for ($i = 0, $deleted = true; $deleted && $i < 2000; $i++) {
            $item = $pool->getItem('key')->set('value');
            self::assertTrue(Patience::with(static fn(): bool => $pool->save($item)));
            \usleep(500);
            \posix_kill($child->pid, SIGSTOP);
            $deleted = $change();
            \posix_kill($child->pid, SIGCONT);
        }
        unset($child);
        return $deleted;
    }
}

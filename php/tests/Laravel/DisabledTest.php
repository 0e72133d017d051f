<?php

declare(strict_types=1);

namespace BloomShm\Tests\Laravel;

use Illuminate\Cache\RateLimiter;
use Illuminate\Support\Facades\Cache;
use PHPUnit\Framework\Attributes\Group;

/**
 * With bloomshm.enable=0 all reads are misses, and nothing throws.
 */
#[Group('only-disabled')]
final class DisabledTest extends LaravelTestCase
{
    public function testReadsAreMissesAndWritesGiveFalse(): void
    {
        $store = $this->store();
        self::assertFalse($store->put('key', 1, 60));
        self::assertFalse($store->putMany(['key' => 1], 60));
        self::assertFalse($store->add('key', 1, 60));
        self::assertFalse($store->touch('key', 60));
        self::assertFalse($store->increment('key'));
        self::assertFalse($store->decrement('key'));
        self::assertFalse($store->forget('key'));
        self::assertNull($store->get('key'));
        self::assertSame(['key' => null], $store->many(['key']));
        self::assertTrue($store->flush());
        self::assertTrue($store->flushLocks());
    }

    public function testAPageIsComputedEachTime(): void
    {
        self::assertSame(1, Cache::remember('key', 60, fn() => 1));
        self::assertSame(2, Cache::remember('key', 60, fn() => 2));
        self::assertSame(3, Cache::flexible('key', [10, 20], fn() => 3));
        self::assertSame(4, Cache::tags('tag')->rememberForever('key', fn() => 4));
        self::assertTrue(Cache::tags('tag')->flush());
        self::assertSame('default', Cache::get('key', 'default'));
        $limiter = new RateLimiter(Cache::store());
        self::assertSame(0, $limiter->hit('key'));
        self::assertFalse($limiter->tooManyAttempts('key', 1));
    }

    public function testEachLockIsGrantedAsByTheNullStore(): void
    {
        $lock = Cache::lock('name', 10);
        self::assertTrue($lock->get());
        self::assertTrue(Cache::lock('name', 10)->get());
        self::assertTrue(Cache::lock('name', 10)->block(1));
        self::assertSame('run', Cache::lock('name', 10)->get(fn() => 'run'));
        self::assertTrue($lock->isOwnedByCurrentProcess());
        self::assertTrue($lock->release());
    }
}

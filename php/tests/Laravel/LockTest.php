<?php

declare(strict_types=1);

namespace BloomShm\Tests\Laravel;

use BloomShm\Laravel\BloomShmLock;
use Illuminate\Contracts\Cache\CanFlushLocks;
use Illuminate\Contracts\Cache\LockTimeoutException;
use Illuminate\Support\Carbon;
use Illuminate\Support\Stringable;

final class LockTest extends LaravelTestCase
{
    public function testOneOwnerAtATime(): void
    {
        $store = $this->store();
        $lock = $store->lock('name', 10);
        self::assertInstanceOf(BloomShmLock::class, $lock);
        self::assertTrue($lock->get());
        self::assertFalse($lock->get());
        self::assertFalse($store->lock('name', 10)->get());
        self::assertTrue($store->lock('other', 10)->get());
        self::assertTrue($this->store('another application')->lock('name', 10)->get());
        self::assertTrue($lock->release());
        self::assertFalse($lock->release());
        self::assertTrue($store->lock('name', 10)->get());
    }

    public function testOnlyTheOwnerReleases(): void
    {
        $store = $this->store();
        $lock = $store->lock('name', 10, 'me');
        self::assertSame('me', $lock->owner());
        self::assertTrue($lock->isOwnedBy(null));
        self::assertTrue($lock->get());
        self::assertTrue($lock->isOwnedBy('me'));
        self::assertFalse($store->lock('name', 10)->release());
        self::assertFalse($store->restoreLock('name', 'you')->isOwnedByCurrentProcess());
        self::assertFalse($store->restoreLock('name', 'you')->release());
        self::assertTrue($store->restoreLock('name', 'me')->release());
        self::assertTrue($lock->isOwnedBy(null));
        self::assertTrue($store->lock('name', 10)->get());
        $store->lock('name')->forceRelease();
        self::assertTrue($lock->get());
    }

    public function testAnOwnerOfAnyName(): void
    {
        foreach (['', ':', '0:', "a:b\0"] as $owner) {
            $lock = $this->store()->lock("name of $owner", 10, $owner);
            self::assertTrue($lock->get());
            self::assertFalse($lock->get());
            self::assertTrue($lock->isOwnedByCurrentProcess());
            self::assertTrue($lock->release());
        }
    }

    public function testALockLastsToItsMicrosecond(): void
    {
        Carbon::setTestNow(Carbon::now());
        $store = $this->store();
        $lock = $store->lock('name', 10);
        self::assertTrue($lock->get());
        Carbon::setTestNow(Carbon::now()->addMicroseconds(9_999_999));
        self::assertFalse($store->lock('name', 10)->get());
        self::assertTrue($lock->isOwnedByCurrentProcess());
        Carbon::setTestNow(Carbon::now()->addMicrosecond());
        self::assertFalse($lock->isOwnedByCurrentProcess());
        self::assertFalse($lock->release());
        self::assertTrue($store->lock('name', 10)->get());
        self::assertFalse($lock->release());
    }

    public function testTheStoreKeepsALockAsLongAsItLasts(): void
    {
        // The store's clock counts whole seconds: each lock begins in another part of one.
        $locks = $begun = [];
        for ($i = 0; $i < 8; $i++) {
            $locks[$i] = $this->store()->lock("name $i", 1);
            $begun[$i] = microtime(true);
            self::assertTrue($locks[$i]->get());
            usleep(125_000);
        }
        while ($locks !== []) {
            foreach ($locks as $i => $lock) {
                if (!$lock->isOwnedByCurrentProcess()) {
                    self::assertGreaterThanOrEqual($begun[$i] + 1, microtime(true));
                    unset($locks[$i]);
                }
            }
            usleep(1000);
        }
    }

    public function testALockWithoutALimitStays(): void
    {
        foreach ([0, -1] as $seconds) {
            self::assertTrue($this->store()->lock("name $seconds", $seconds)->get());
            Carbon::setTestNow(Carbon::now()->addYears(100));
            self::assertFalse($this->store()->lock("name $seconds", $seconds)->get());
        }
        Carbon::setTestNow();
        self::assertTrue($this->store()->lock('very long', 10 * BloomShmLock::LONGEST)->get());
    }

    public function testNamesAndLimitsOfOtherTypes(): void
    {
        $store = $this->store();
        self::assertTrue($store->lock(17, 10)->get());
        self::assertFalse($store->lock('17', 10)->get());
        self::assertTrue($store->lock(new Stringable('name'), 10)->get());
        self::assertFalse($store->lock('name', 10)->get());
        Carbon::setTestNow(Carbon::now());
        foreach (['10', 9.5, 10.0] as $seconds) {
            $lock = $store->lock("name $seconds", $seconds);
            self::assertTrue($lock->get());
            Carbon::setTestNow(Carbon::now()->addSeconds(9));
            self::assertTrue($lock->refresh($seconds));
            Carbon::setTestNow(Carbon::now()->addSeconds(9));
            self::assertTrue($lock->isOwnedByCurrentProcess());
            Carbon::setTestNow(Carbon::now()->addSecond());
            self::assertFalse($lock->isOwnedByCurrentProcess());
        }
        self::assertTrue($store->lock('no limit', null)->get());
        Carbon::setTestNow(Carbon::now()->addYears(100));
        self::assertFalse($store->lock('no limit', 10)->get());
    }

    public function testRefresh(): void
    {
        Carbon::setTestNow(Carbon::now());
        $store = $this->store();
        $lock = $store->lock('name', 10);
        self::assertFalse($lock->refresh());
        self::assertTrue($lock->get());
        Carbon::setTestNow(Carbon::now()->addSeconds(9));
        self::assertTrue($lock->refresh());
        self::assertFalse($store->lock('name', 10)->refresh());
        Carbon::setTestNow(Carbon::now()->addSeconds(9));
        self::assertTrue($lock->refresh(30));
        Carbon::setTestNow(Carbon::now()->addSeconds(29));
        self::assertTrue($lock->isOwnedByCurrentProcess());
        self::assertTrue($lock->refresh(0));
        Carbon::setTestNow(Carbon::now()->addYears(20));
        self::assertFalse($store->lock('name', 10)->get());
        self::assertTrue($lock->release());
        self::assertFalse($lock->refresh());
    }

    public function testGetAndBlockRunACallback(): void
    {
        $store = $this->store();
        self::assertSame('result', $store->lock('name', 10)->get(fn() => 'result'));
        self::assertSame('result', $store->lock('name', 10)->block(1, fn() => 'result'));
        try {
            $store->lock('name', 10)->block(1, fn() => throw new \DomainException());
            self::fail('the exception is lost');
        } catch (\DomainException) {
            self::assertTrue($store->lock('name', 10)->get());
        }
        $this->expectException(LockTimeoutException::class);
        $store->lock('name', 10)->betweenBlockedAttemptsSleepFor(20)->block(1);
    }

    public function testFlushKeepsLocksAndFlushLocksItems(): void
    {
        $store = $this->store();
        $store->put('key', 1, 60);
        $store->lock('name', 10)->get();
        $this->store('another application')->lock('name', 10)->get();
        $store->flush();
        self::assertFalse($store->lock('name', 10)->get());
        $store->put('key', 1, 60);
        self::assertTrue($store->flushLocks());
        self::assertTrue($store->lock('name', 10)->get());
        self::assertSame(1, $store->get('key'));
        self::assertFalse($this->store('another application')->lock('name', 10)->get());
        self::assertTrue($store->hasSeparateLockStore());
        self::assertSame(interface_exists(CanFlushLocks::class), $store instanceof CanFlushLocks);
    }
}

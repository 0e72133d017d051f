<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Suite;

use BloomShm\Symfony\BloomShmAdapter;
use Psr\SimpleCache\CacheInterface;
use Symfony\Component\Cache\Psr16Cache;
use Symfony\Component\Cache\Tests\Psr16CacheTest;

/**
 * Symfony's tests of Psr16Cache.
 */
final class Psr16Test extends Psr16CacheTest
{
    use HeldUp;

    public function createSimpleCache(int $defaultLifetime = 0): CacheInterface
    {
        return new Psr16Cache(new BloomShmAdapter('psr16cache', $defaultLifetime));
    }

    public function testDefaultLifeTime()
    {
        self::again(3.2, function (): void {
            parent::testDefaultLifeTime();
        });
    }
}

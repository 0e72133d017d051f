<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Suite;

use BloomShm\Symfony\BloomShmAdapter;
use Psr\Cache\CacheItemPoolInterface;
use Symfony\Component\Cache\Tests\Adapter\ApcuAdapterTest;

// The tests make their pools themselves.
\class_alias(BloomShmAdapter::class, 'Symfony\Component\Cache\Adapter\ApcuAdapter');

/**
 * Symfony's tests of ApcuAdapter, whose constructor has the same arguments.
 */
final class ApcuTest extends ApcuAdapterTest
{
    public function createCachePool(int $defaultLifetime = 0): CacheItemPoolInterface
    {
        return new BloomShmAdapter('apcu', $defaultLifetime);
    }
}

<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Suite;

use BloomShm\Symfony\BloomShmAdapter;
use Psr\Cache\CacheItemPoolInterface;
use Symfony\Component\Cache\Tests\Adapter\AdapterTestCase;

/**
 * Symfony's tests of any adapter, for one without a namespace.
 */
final class AdapterTest extends AdapterTestCase
{
    use HeldUpAdapter;

    public function createCachePool(int $defaultLifetime = 0): CacheItemPoolInterface
    {
        return new BloomShmAdapter(defaultLifetime: $defaultLifetime);
    }
}

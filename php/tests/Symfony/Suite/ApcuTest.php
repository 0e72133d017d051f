<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Suite;

use BloomShm\Symfony\BloomShmAdapter;
use Psr\Cache\CacheItemPoolInterface;
use Symfony\Component\Cache\Tests\Adapter\ApcuAdapterTest;
use Symfony\Component\Cache\Tests\Adapter\AdapterTestCase;

// The tests make their pools themselves: the class that they import is another one here.
eval(\str_replace(
    ['<?php', 'use Symfony\Component\Cache\Adapter\ApcuAdapter;'],
    ['', 'use BloomShm\Symfony\BloomShmAdapter as ApcuAdapter;'],
    (string) \file_get_contents(
        \dirname((string) (new \ReflectionClass(AdapterTestCase::class))->getFileName())
            . '/ApcuAdapterTest.php',
    ),
));

/**
 * Symfony's tests of ApcuAdapter, whose constructor has the same arguments.
 */
final class ApcuTest extends ApcuAdapterTest
{
    use HeldUpAdapter;

    protected function setUp(): void
    {
        \bloom_cache_clear(); // and which versions have been there
        parent::setUp();
    }

    public function createCachePool(int $defaultLifetime = 0): CacheItemPoolInterface
    {
        return new BloomShmAdapter('apcu', $defaultLifetime);
    }
}

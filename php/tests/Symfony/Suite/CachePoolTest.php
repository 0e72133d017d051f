<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Suite;

use BloomShm\Symfony\BloomShmAdapter;
use Psr\Cache\CacheItemPoolInterface;

/**
 * PSR-6: the tests of cache/integration-tests.
 */
final class CachePoolTest extends \Cache\IntegrationTests\CachePoolTest
{
    public function createCachePool(): CacheItemPoolInterface
    {
        return new BloomShmAdapter('psr-6');
    }
}

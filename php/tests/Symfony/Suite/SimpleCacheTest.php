<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Suite;

use BloomShm\Symfony\BloomShmAdapter;
use Psr\SimpleCache\CacheInterface;
use Symfony\Component\Cache\Psr16Cache;

/**
 * PSR-16 through Psr16Cache: the tests of cache/integration-tests.
 */
final class SimpleCacheTest extends \Cache\IntegrationTests\SimpleCacheTest
{
    public function createSimpleCache(): CacheInterface
    {
        return new Psr16Cache(new BloomShmAdapter('psr-16'));
    }
}

<?php

declare(strict_types=1);

namespace BloomShm\Tests\Cache;

use BloomShm\Cache\SimpleCache;
use Cache\IntegrationTests\SimpleCacheTest;
use Psr\SimpleCache\CacheInterface;

// Packagist's package is not for psr/simple-cache 3; Debian's php-cache-integration-tests is.
require_once '/usr/share/php/Cache/IntegrationTests/SimpleCacheTest.php';

final class SimpleCacheIntegrationTest extends SimpleCacheTest
{
    public function createSimpleCache(): CacheInterface
    {
        return new SimpleCache('suite');
    }
}

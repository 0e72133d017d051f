<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Suite;

use BloomShm\Symfony\BloomShmAdapter;
use Psr\Cache\CacheItemPoolInterface;
use Symfony\Component\Cache\Adapter\ArrayAdapter;
use Symfony\Component\Cache\Adapter\ChainAdapter;
use Symfony\Component\Cache\Tests\Adapter\ChainAdapterTest;

/**
 * Symfony's tests of ChainAdapter.
 */
final class ChainTest extends ChainAdapterTest
{
    use HeldUpAdapter;

    protected $skippedTests = [
        'testMultipleCachesExpirationWhenCommonTtlIsNotSet' => 'It has pools of arrays only.',
        'testMultipleCachesExpirationWhenCommonTtlIsSet' => 'It has pools of arrays only.',
    ];

    public function createCachePool(
        int $defaultLifetime = 0,
        ?string $testMethod = null,
    ): CacheItemPoolInterface {
        $first = $testMethod === 'testGetMetadata'
            ? new BloomShmAdapter('first', $defaultLifetime)
            : new ArrayAdapter($defaultLifetime);
        $second = new BloomShmAdapter('second', $defaultLifetime);
        return new ChainAdapter([$first, $second], $defaultLifetime);
    }
}

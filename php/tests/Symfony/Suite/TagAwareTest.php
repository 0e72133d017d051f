<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Suite;

use BloomShm\Symfony\BloomShmAdapter;
use Psr\Cache\CacheItemPoolInterface;
use Symfony\Component\Cache\Adapter\TagAwareAdapter;
use Symfony\Component\Cache\Tests\Adapter\TagAwareAdapterTest;

require_once __DIR__ . '/sleep.php';

/**
 * Symfony's tests of TagAwareAdapter.
 */
final class TagAwareTest extends TagAwareAdapterTest
{
    use HeldUpAdapter;

    private const ENTRIES_OF_TAGS = [
        'testTagEntryIsCreatedForItemWithoutTags',
        'testHasItemReturnsFalseWhenPoolDoesNotHaveItemTags',
        'testGetItemReturnsCacheMissWhenPoolDoesNotHaveItemTags',
        'testHasItemReturnsFalseWhenPoolDoesNotHaveItemAndOnlyHasTags',
        'testGetItemReturnsCacheMissWhenPoolDoesNotHaveItemAndOnlyHasTags',
    ];

    protected function setUp(): void
    {
        parent::setUp();
        if (\in_array($this->name(), self::ENTRIES_OF_TAGS, true)) {
            self::markTestSkipped('Since Symfony 6 the tags of an item have no entry of their own.');
        }
    }

    /**
     * @param int $defaultLifetime
     */
    public function createCachePool($defaultLifetime = 0): CacheItemPoolInterface
    {
        return new TagAwareAdapter(new BloomShmAdapter('tags', $defaultLifetime));
    }

    public function testKnownTagVersionsTtl(): void
    {
        self::markTestSkipped('It has pools of arrays and files only, and needs a mocked clock.');
    }
}

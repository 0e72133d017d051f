<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Fixture;

use BloomShm\Symfony\NotCompromised;
use Psr\Cache\CacheItemPoolInterface;
use Symfony\Component\Validator\Validator\ValidatorInterface;
use Symfony\Contracts\Cache\CacheInterface;
use Symfony\Contracts\Cache\TagAwareCacheInterface;

/**
 * A service of the application: everything is autowired.
 */
final class Page
{
    #[NotCompromised]
    public string $password = '';

    public function __construct(
        public readonly CacheInterface $cache,
        public readonly CacheItemPoolInterface $pool,
        public readonly TagAwareCacheInterface $tags,
        public readonly TagAwareCacheInterface $articlesCache,
        public readonly ValidatorInterface $validator,
    ) {}
}

<?php

declare(strict_types=1);

namespace BloomShm;

/**
 * The records whose keys begin alike.
 *
 * @internal
 */
final class Prefix
{
    private const MAX_TRIES = 4;

    /**
     * Removes them. The store leaves records while a process that is not running holds its lock,
     * and counts that: then they are removed by another try. The count is that of all processes:
     * if another one gave up waiting meanwhile, a try is made in vain.
     *
     * @return bool false: some may be left; after each of the tries a wait had ended in vain.
     */
    public static function clear(string $prefix): bool
    {
        $tries = 0;
        do {
            $before = \bloom_cache_info()['lock_timeouts'];
            \bloom_cache_clear($prefix);
            $done = \bloom_cache_info()['lock_timeouts'] === $before;
        } while (!$done && ++$tries < self::MAX_TRIES);
        return $done;
    }
}

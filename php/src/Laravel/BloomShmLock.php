<?php

declare(strict_types=1);

namespace BloomShm\Laravel;

use Illuminate\Cache\Lock;
use Illuminate\Support\Carbon;

/**
 * A lock among the processes that share the record store. Taking, releasing and refreshing it is
 * one step each: of any number of processes one gets it, and none can release another one's.
 *
 * The record holds the moment at which the lock ends, in microseconds, and the owner. Its own time
 * limit is a second longer, because the store counts whole seconds: it never ends before the lock.
 * A released lock is a record that has ended.
 *
 * A lock lives in a cache. The store evicts a record only if others of a quarter of its memory (of
 * its records, if bloomshm.cache_records is set) have been used since the record's own last use,
 * and each attempt to take the lock is a use. In a store of 64 MB a lock stands until 16 MB of
 * other records have been used; choose the size so that this takes longer than the longest lock.
 * release() and refresh() give false for a lock that no longer exists.
 */
final class BloomShmLock extends Lock
{
    /** The longest time limit of a record, in seconds: ten years. */
    public const LONGEST = 315_360_000;

    /** How often a change is tried while a process that is not running holds the store's lock. */
    public const MAX_TRIES = 4;

    private const RELEASED = '0:';

    public function acquire(): bool
    {
        $held = \bloom_cache_get($this->name);
        if ($this->ownerOf($held) !== null) {
            return false;
        }

        // A record that has ended may expire between the two steps.
        return $this->replace($held, $this->seconds) || $this->replace(null, $this->seconds);
    }

    /**
     * @return bool false: it is not this owner's, or no longer.
     */
    public function release(): bool
    {
        return $this->change(
            fn(mixed $held) => \bloom_cache_cas($this->name, $held, self::RELEASED, 1),
        );
    }

    /**
     * Lets the lock last from now on.
     *
     * @param int|float|string|null $seconds 0: until it is released; null: as long as at first.
     * @return bool false: it is not this owner's, or no longer.
     */
    public function refresh($seconds = null): bool
    {
        $seconds = self::whole($seconds ?? $this->seconds);

        return $this->change(fn(mixed $held) => $this->replace($held, $seconds));
    }

    public function forceRelease(): void
    {
        \bloom_cache_delete($this->name);
    }

    /**
     * Laravel's time limits are ints by its comments, and may be what a setting or a job gives: a
     * string of digits, a float, null. A part of a second counts as a whole one: 0 is no limit.
     *
     * @internal
     */
    public static function whole(mixed $seconds): int
    {
        return is_int($seconds) ? $seconds
            : (is_numeric($seconds) ? (int) ceil((float) $seconds) : 0);
    }

    protected function getCurrentOwner(): ?string
    {
        return $this->ownerOf(\bloom_cache_get($this->name));
    }

    /**
     * @param \Closure(mixed): bool $change Gets the record.
     * @return bool false: the lock is not this owner's, or could not be changed.
     */
    private function change(\Closure $change): bool
    {
        $tries = 0;
        do {
            $held = \bloom_cache_get($this->name);
            $owned = $this->ownerOf($held) === $this->owner;
            $done = $owned && $change($held);
        } while ($owned && !$done && ++$tries < self::MAX_TRIES);

        return $done;
    }

    private function replace(mixed $held, int $seconds): bool
    {
        $until = $seconds > 0 ? self::now() + 1_000_000 * $seconds : PHP_INT_MAX;
        $ttl = $seconds > 0 ? min($seconds + 1, self::LONGEST) : 0;

        return \bloom_cache_cas($this->name, $held, $until . ':' . $this->owner, $ttl);
    }

    /**
     * @param mixed $held The record; null: there is none.
     * @return string|null null: the lock is free.
     */
    private function ownerOf(mixed $held): ?string
    {
        $parts = is_string($held) ? explode(':', $held, 2) : [];

        return count($parts) === 2 && (int) $parts[0] > self::now() ? $parts[1] : null;
    }

    private static function now(): int
    {
        return (int) Carbon::now()->getPreciseTimestamp(6);
    }
}

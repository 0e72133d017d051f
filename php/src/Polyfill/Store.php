<?php

declare(strict_types=1);

namespace BloomShm\Polyfill;

use BloomShm\Exception;

/**
 * The records of this process: an array in the order of their last use, the oldest first. When
 * their keys and values take more than 16 MB, the oldest are evicted.
 *
 * An id is a record's key behind a letter: "c" is for bloom_cache_*(), "f" for bloom_fetch(). The
 * letter also keeps PHP from making an int of a key of digits.
 *
 * @internal
 */
final class Store
{
    public const BYTES = 16 << 20;

    /** @var array<string, Record> */
    private static array $records = [];

    /** @var array<string, int> By id, the loaders whose result would be stored. */
    private static array $loaders = [];

    private static int $bytes = 0;
    private static int $serial = 0;

    /** @var array{hits: int, misses: int, sets: int, evictions: int, expired: int, rejected: int} */
    private static array $counts
        = ['hits' => 0, 'misses' => 0, 'sets' => 0, 'evictions' => 0, 'expired' => 0, 'rejected' => 0];

    /** The record, unless it has expired. */
    public static function find(string $id): ?Record
    {
        $record = self::$records[$id] ?? null;
        if ($record !== null && $record->expires <= \microtime(true)) {
            self::drop($id);
            self::$counts['expired']++;
            return null;
        }
        return $record;
    }

    /** The record, which becomes the newest. Counts a hit or a miss. */
    public static function hit(string $id): ?Record
    {
        $record = self::find($id);
        self::$counts[$record === null ? 'misses' : 'hits']++;
        if ($record !== null) {
            self::renew($id, $record);
        }
        return $record;
    }

    /** Makes the record the newest. */
    public static function renew(string $id, Record $record): void
    {
        unset(self::$records[$id]);
        self::$records[$id] = $record;
    }

    /** What a value is stored as. Throws if it cannot be stored. */
    public static function pack(mixed $value): Packed|bool|int|float|string|null
    {
        if (\is_array($value) || \is_object($value)) {
            return new Packed($value);
        }
        if (\is_scalar($value) || $value === null) {
            return $value;
        }
        Status::fail(Exception::INCOMPATIBLE, 'a value of type resource cannot be stored');
    }

    /** Stores a value; false: it is too large, and an older one is removed too. */
    public static function set(string $id, Packed|bool|int|float|string|null $stored, int $ttl): bool
    {
        $done = self::put($id, $stored, self::expiry($ttl));
        if (!$done) {
            self::drop($id);
        }
        return $done;
    }

    /** As bloom_cache_increment(), and bloom_cache_decrement() with $down. */
    public static function increment(string $key, int $by, bool $down, int $initial, int $ttl, bool $create): int|false
    {
        $record = self::find("c$key");
        if ($record === null && !$create) {
            return false;
        }
        $old = $record === null ? $initial : $record->stored;
        if (!\is_int($old)) {
            Status::fail(Exception::INCOMPATIBLE, "the record \"$key\" is not an int");
        }
        $fits = $by > 0 === $down
            ? $old >= ($down ? \PHP_INT_MIN + $by : \PHP_INT_MIN - $by)
            : $old <= ($down ? \PHP_INT_MAX + $by : \PHP_INT_MAX - $by);
        if (!$fits) {
            Status::fail(Exception::RANGE, \sprintf(
                '%d %s %d is outside the range of an int; the record "%s" was not changed',
                $old,
                $down ? 'minus' : 'plus',
                $by,
                $key,
            ));
        }
        $new = $down ? $old - $by : $old + $by;
        self::put("c$key", $new, $record === null ? self::expiry($ttl) : null);
        return $new;
    }

    /**
     * Stores a value; false: it is too large, and nothing has changed.
     *
     * @param float|null $expires A unix time; null: as the record that is there.
     */
    public static function put(string $id, Packed|bool|int|float|string|null $stored, ?float $expires): bool
    {
        $bytes = self::bytes($id, $stored);
        if ($bytes > self::BYTES / 4) {
            self::$counts['rejected']++;
            return false;
        }
        $old = self::find($id);
        self::drop($id);
        self::$records[$id] = new Record($stored, $expires ?? $old->expires ?? \INF, $bytes, $old->number ?? ++self::$serial);
        self::$bytes += $bytes;
        self::$counts['sets']++;
        while (self::$bytes > self::BYTES) {
            self::drop((string) \array_key_first(self::$records));
            self::$counts['evictions']++;
        }
        return true;
    }

    /** Removes a record, and voids what is being loaded for its key. True: there was one. */
    public static function remove(string $id): bool
    {
        $there = self::find($id) !== null;
        self::drop($id);
        return $there;
    }

    /** A unix time, in so many seconds; 0: never. */
    public static function expiry(int $ttl): float
    {
        return $ttl === 0 ? \INF : \microtime(true) + $ttl;
    }

    /**
     * The record's value, else the loader's, which is stored unless the key is changed meanwhile.
     *
     * @param bool $nulls Are nulls stored too?
     */
    public static function remember(string $id, string $key, callable $load, int $ttl, bool $nulls): mixed
    {
        if (self::read($id, $value)) {
            return $value;
        }
        if (isset(self::$loaders[$id])) {
            return $load($key);
        }
        self::$loaders[$id] = $serial = ++self::$serial;
        try {
            $value = $load($key);
            self::keep($id, $serial, $value, $ttl, $nulls);
            return $value;
        } finally {
            self::release($id, $serial);
        }
    }

    /**
     * The same for many keys with one call of the loader, which gets a list of the keys that are
     * open and returns their values by key.
     *
     * @param array<string> $keys
     * @param callable(string): string $id
     * @return array<mixed> Under the array keys of $keys; a key without a value has null.
     */
    public static function rememberMany(array $keys, callable $id, callable $load, int $ttl, bool $nulls): array
    {
        $values = $open = $mine = [];
        foreach ($keys as $key) {
            if (!\array_key_exists($key, $values) && !isset($open[$key])) {
                if (self::read($id($key), $value)) {
                    $values[$key] = $value;
                } else {
                    $open[$key] = $key;
                }
            }
        }
        foreach ($open as $key) {
            if (!isset(self::$loaders[$id($key)])) {
                $mine[$key] = self::$loaders[$id($key)] = ++self::$serial;
            }
        }
        try {
            $loaded = $open === [] ? [] : $load(\array_values($open));
            if (!\is_array($loaded)) {
                throw new \TypeError('$load must return an array, ' . Arguments::type($loaded) . ' returned');
            }
            foreach ($open as $key) {
                $values[$key] = $loaded[$key] ?? null;
                self::keep($id($key), $mine[$key] ?? 0, $values[$key], $ttl, $nulls);
            }
        } finally {
            foreach ($open as $key) {
                self::release($id($key), $mine[$key] ?? 0);
            }
        }
        return \array_map(static fn(string $key): mixed => $values[$key], $keys);
    }

    /**
     * The ids of records whose keys begin with a prefix, in the order of their creation.
     *
     * @return array<int, string> By their numbers.
     */
    public static function ids(string $prefix = '', int $after = 0): array
    {
        $ids = [];
        foreach (self::$records as $id => $record) {
            if ($record->number > $after && \str_starts_with($id, $prefix) && self::find($id) !== null) {
                $ids[$record->number] = $id;
            }
        }
        \ksort($ids);
        return $ids;
    }

    /** The id of the oldest record of bloom_cache_*(). */
    public static function oldest(): ?string
    {
        foreach (\array_keys(self::$records) as $id) {
            if ($id[0] === 'c' && self::find($id) !== null) {
                return $id;
            }
        }
        return null;
    }

    /** Removes the records of bloom_cache_*() with a prefix; "": those of bloom_fetch() too. */
    public static function clear(string $prefix): int
    {
        $ids = self::ids("c$prefix");
        if ($prefix === '') {
            self::$records = self::$loaders = [];
            self::$bytes = 0;
            return \count($ids);
        }
        foreach (\array_keys(self::$loaders) as $id) {
            if (\str_starts_with($id, "c$prefix")) {
                unset(self::$loaders[$id]);
            }
        }
        \array_map(self::drop(...), $ids);
        return \count($ids);
    }

    /** The id of what bloom_fetch() stores. */
    public static function fetched(string $filter, string $key): string
    {
        return 'f' . \chr(\strlen($filter)) . $filter . $key;
    }

    /**
     * @return array<string, int>
     */
    public static function info(): array
    {
        return [
            'records' => \count(self::$records),
            'max_records' => 0,
            'bytes_used' => self::$bytes,
            'bytes_total' => self::BYTES,
            'data_bytes' => self::$bytes,
            ...self::$counts,
            'lock_timeouts' => 0,
            'repairs' => 0,
            'shards' => 1,
        ];
    }

    private static function drop(string $id): void
    {
        self::$bytes -= self::$records[$id]->bytes ?? 0;
        unset(self::$records[$id], self::$loaders[$id]);
    }

    private static function bytes(string $id, Packed|bool|int|float|string|null $stored): int
    {
        $bytes = match (true) {
            $stored instanceof Packed => \strlen($stored->text),
            \is_string($stored) => \strlen($stored),
            default => 8,
        };
        return \strlen($id) - 1 + $bytes;
    }

    /** True: there is a value. One that can no longer be unserialized counts as missing. */
    private static function read(string $id, mixed &$value): bool
    {
        $record = self::hit($id);
        try {
            $value = $record?->value();
            return $record !== null;
        } catch (\Throwable) {
            return false;
        }
    }

    /** Stores what was loaded, if the key has not changed since. */
    private static function keep(string $id, int $serial, mixed $value, int $ttl, bool $nulls): void
    {
        $fits = \strlen($id) <= 1 + Arguments::KEY_BYTES_MAX;
        if ($fits && (self::$loaders[$id] ?? null) === $serial && ($nulls || $value !== null)) {
            self::put($id, self::pack($value), self::expiry($ttl));
        }
    }

    private static function release(string $id, int $serial): void
    {
        if ((self::$loaders[$id] ?? null) === $serial) {
            unset(self::$loaders[$id]);
        }
    }
}

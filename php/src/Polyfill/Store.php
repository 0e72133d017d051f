<?php

declare(strict_types=1);

namespace BloomShm\Polyfill;

use BloomShm\Exception;

/**
 * The records of this process, in the order of their last use, the oldest first. When they take
 * more than 16 MB, the oldest are evicted.
 *
 * An id is a record's key behind a letter: "c" is for bloom_cache_*(), "f" for bloom_fetch(). The
 * letter also keeps PHP from making an int of a key of digits.
 *
 * @internal
 */
final class Store
{
    public const BYTES = 16 << 20;
    /** Of key and value. */
    public const RECORD_BYTES_MAX = self::BYTES >> 2;

    /** What PHP's arrays and objects need for a record, about. */
    private const RECORD_BYTES = 300;

    /** @var array<string, Record> */
    private static array $records = [];

    /** @var array<int, string> Ids by the number of the record, which stays when it is replaced. */
    private static array $ids = [];

    private static int $created = 0;
    private static int $bytes = 0;

    /** @var array<'hits'|'misses'|'sets'|'evictions'|'expired'|'rejected', int> */
    private static array $counts = [
        'hits' => 0,
        'misses' => 0,
        'sets' => 0,
        'evictions' => 0,
        'expired' => 0,
        'rejected' => 0,
    ];

    /** The record, unless it has expired. */
    public static function find(string $id): ?Record
    {
        $record = self::$records[$id] ?? null;
        if ($record !== null && $record->expires <= \microtime(true)) {
            self::remove($id);
            self::$counts['expired']++;
            return null;
        }
        return $record;
    }

    /**
     * Reads a record, which becomes the newest. Counts a hit or a miss. What the value's class
     * throws passes through.
     *
     * @param-out mixed $value
     * @return bool false: there is none that can be read.
     */
    public static function read(string $id, mixed &$value): bool
    {
        $record = self::find($id);
        self::$counts[$record === null ? 'misses' : 'hits']++;
        if ($record === null) {
            return false;
        }
        unset(self::$records[$id]);
        self::$records[$id] = $record;
        return $record->read($value);
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
    public static function set(
        string $id,
        Packed|bool|int|float|string|null $stored,
        int $ttl,
    ): bool {
        $done = self::put($id, $stored, self::expiry($ttl));
        if (!$done) {
            self::remove($id);
        }
        return $done;
    }

    /**
     * Stores a value; false: it is too large, and nothing has changed.
     *
     * @param float|null $expires A unix time; null: as that of the record that is there.
     */
    public static function put(
        string $id,
        Packed|bool|int|float|string|null $stored,
        ?float $expires,
    ): bool {
        $bytes = \strlen($id) - 1 + self::bytes($stored);
        if ($bytes > self::RECORD_BYTES_MAX) {
            self::$counts['rejected']++;
            return false;
        }
        $old = self::find($id);
        self::remove($id);
        $number = $old->number ?? ++self::$created;
        self::$ids[$number] = $id;
        $expires ??= $old->expires ?? \INF;
        self::$records[$id] = new Record($stored, $expires, $bytes, $number);
        self::$bytes += $bytes + self::RECORD_BYTES;
        self::$counts['sets']++;
        if (self::$bytes > self::BYTES) {
            self::evict();
        }
        return true;
    }

    /** Adds to an int; see bloom_cache_increment(). */
    public static function increment(
        string $key,
        int $by,
        bool $down,
        int $initial,
        int $ttl,
        bool $create,
    ): int|false {
        $record = self::find("c$key");
        if ($record === null && !$create) {
            return false;
        }
        $old = $record === null ? $initial : $record->stored;
        if (!\is_int($old)) {
            Status::fail(
                Exception::INCOMPATIBLE,
                "the record \"$key\" is not an int; it was not changed",
            );
        }
        $fits = $by > 0 === $down
            ? $old >= ($down ? \PHP_INT_MIN + $by : \PHP_INT_MIN - $by)
            : $old <= ($down ? \PHP_INT_MAX + $by : \PHP_INT_MAX - $by);
        if (!$fits) {
            $sign = $down ? 'minus' : 'plus';
            Status::fail(
                Exception::RANGE,
                "$old $sign $by is outside the range of an int; the record \"$key\" was not changed",
            );
        }
        $new = $down ? $old - $by : $old + $by;
        self::put("c$key", $new, $record === null ? self::expiry($ttl) : null);
        return $new;
    }

    /** Removes a record, and voids what is being loaded for its key. True: there was one. */
    public static function remove(string $id): bool
    {
        Loader::void($id);
        $record = self::$records[$id] ?? null;
        if ($record === null) {
            return false;
        }
        self::$bytes -= $record->bytes + self::RECORD_BYTES;
        unset(self::$records[$id], self::$ids[$record->number]);
        return $record->expires > \microtime(true);
    }

    /** Removes the records of bloom_cache_*() with a prefix; "": those of bloom_fetch() too. */
    public static function clear(string $prefix): int
    {
        Loader::voidAll($prefix === '' ? '' : "c$prefix");
        $removed = 0;
        foreach (\array_keys(self::$records) as $id) {
            if ($prefix === '' || \str_starts_with($id, "c$prefix")) {
                $removed += (int) (self::remove($id) && $id[0] === 'c');
            }
        }
        return $removed;
    }

    /** A unix time, in so many seconds; 0: never. */
    public static function expiry(int $ttl): float
    {
        return $ttl === 0 ? \INF : \microtime(true) + $ttl;
    }

    /**
     * A page of the records of bloom_cache_*(), the one created last first: a walk ends, though
     * others are created meanwhile.
     *
     * @param int $cursor 0: from the beginning; the number of the next page's first record, or 0.
     * @return array<string, Record> By key.
     */
    public static function page(int &$cursor, int $count, string $prefix): array
    {
        $page = [];
        $number = $cursor === 0 ? self::$created : $cursor;
        if ($number < 0 || $number > self::$created) {
            $number = 0; // not a cursor of this process
        }
        for (; $number > 0 && $count > 0; $number--) {
            $id = self::$ids[$number] ?? '';
            $record = \str_starts_with($id, "c$prefix") ? self::find($id) : null;
            if ($record !== null) {
                $page[\substr($id, 1)] = $record;
            }
            $count -= (int) ($id !== '');
        }
        $cursor = $number;
        return $page;
    }

    /** The id of the oldest record of bloom_cache_*(). */
    public static function oldest(): ?string
    {
        foreach (self::$records as $id => $record) {
            if ($id[0] === 'c' && self::find($id) !== null) {
                return $id;
            }
        }
        return null;
    }

    /** @return array<string, int> As bloom_cache_info(). */
    public static function info(): array
    {
        return [
            'records' => \count(self::$records),
            'max_records' => 0,
            'bytes_used' => self::$bytes,
            'bytes_total' => self::BYTES,
            'data_bytes' => self::$bytes - \count(self::$records) * self::RECORD_BYTES,
            ...self::$counts,
            'lock_timeouts' => 0,
            'repairs' => 0,
            'shards' => 1,
        ];
    }

    /** Removes the oldest records until a sixteenth is free: for one, PHP would search as long. */
    private static function evict(): void
    {
        foreach (\array_keys(self::$records) as $id) {
            if (self::$bytes <= self::BYTES - (self::BYTES >> 4)) {
                break;
            }
            self::remove($id);
            self::$counts['evictions']++;
        }
    }

    private static function bytes(Packed|bool|int|float|string|null $stored): int
    {
        if ($stored instanceof Packed) {
            return \strlen($stored->text);
        }
        return \is_string($stored) ? \strlen($stored) : 8;
    }
}

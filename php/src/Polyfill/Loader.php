<?php

declare(strict_types=1);

namespace BloomShm\Polyfill;

/**
 * Values that are loaded when they are missing. A value is stored only if its key has not changed
 * while it was loaded.
 *
 * @internal
 */
final class Loader
{
    /** @var array<string, int> By id, the loads whose results would be stored. */
    private static array $loads = [];

    private static int $serial = 0;

    /** The key of what bloom_fetch() stores. */
    public static function id(string $filter, string $key): string
    {
        return 'f' . \chr(\strlen($filter)) . $filter . $key;
    }

    /**
     * The record's value, else what $load($key) returns.
     *
     * @param bool $nulls Is a null stored too?
     */
    public static function one(
        string $id,
        string $key,
        callable $load,
        int $ttl,
        bool $nulls,
    ): mixed {
        if (self::look($id, $value)) {
            return $value;
        }
        $serial = self::begin($id);
        try {
            $value = $load($key);
            if (self::keeps($id, $serial, $value, $nulls)) {
                self::store($id, $serial, Store::pack($value), $ttl);
            }
            return $value;
        } finally {
            self::end($id, $serial);
        }
    }

    /**
     * The same for many keys. The loader is called once, with a list of the keys without a record,
     * and returns values by key.
     *
     * @param array<string> $keys
     * @param callable(string): string $id
     * @param string $argument What errors of the loader's result begin with.
     * @return array<mixed> Under the array keys of $keys; null for a key without a value.
     */
    public static function many(
        array $keys,
        callable $id,
        callable $load,
        int $ttl,
        bool $nulls,
        string $argument,
    ): array {
        $values = [];
        $serials = [];
        $open = [];
        foreach ($keys as $key) {
            if (!\array_key_exists($key, $values) && !self::look($id($key), $values[$key])) {
                $open[] = $key;
                $serials[$id($key)] = self::begin($id($key));
            }
        }
        try {
            $loaded = $open === [] ? [] : self::load($open, $load, $argument);
            $stored = [];
            foreach ($open as $key) {
                $values[$key] = $loaded[$key] ?? null;
                if (self::keeps($id($key), $serials[$id($key)], $values[$key], $nulls)) {
                    $stored[$id($key)] = Store::pack($values[$key]);
                }
            }
            foreach ($stored as $where => $value) {
                self::store($where, $serials[$where], $value, $ttl);
            }
        } finally {
            foreach ($serials as $where => $serial) {
                self::end($where, $serial);
            }
        }
        return \array_map(static fn(string $key): mixed => $values[$key], $keys);
    }

    /** What is being loaded for a key will not be stored. */
    public static function void(string $id): void
    {
        unset(self::$loads[$id]);
    }

    /** The same for all ids with a prefix. */
    public static function voidAll(string $prefix): void
    {
        foreach (\array_keys(self::$loads) as $id) {
            if (\str_starts_with($id, $prefix)) {
                self::void($id);
            }
        }
    }

    /** True: there is a value. One that can no longer be read counts as missing. */
    private static function look(string $id, mixed &$value): bool
    {
        try {
            return Store::read($id, $value);
        } catch (\Throwable) {
            return false;
        }
    }

    /** 0: the key is being loaded already, and this load will not be stored. */
    private static function begin(string $id): int
    {
        return isset(self::$loads[$id]) ? 0 : self::$loads[$id] = ++self::$serial;
    }

    /** Is the value to be stored? The key may be too long. */
    private static function keeps(string $id, int $serial, mixed $value, bool $nulls): bool
    {
        return $serial !== 0
            && ($nulls || $value !== null)
            && \strlen($id) <= 1 + Arguments::KEY_BYTES_MAX;
    }

    /** Stores a value, unless its key has changed: the loader or a serialize() may have done it. */
    private static function store(
        string $id,
        int $serial,
        Packed|bool|int|float|string|null $stored,
        int $ttl,
    ): void {
        if (self::isValid($id, $serial)) {
            Store::set($id, $stored, $ttl);
        }
    }

    /** Has the key not changed since the load began? */
    private static function isValid(string $id, int $serial): bool
    {
        return (self::$loads[$id] ?? null) === $serial;
    }

    /**
     * @param list<string> $keys
     * @return array<mixed>
     */
    private static function load(array $keys, callable $load, string $argument): array
    {
        $loaded = $load($keys);
        if (!\is_array($loaded)) {
            $type = Arguments::type($loaded);
            throw new \TypeError("$argument must return an array of values by key, $type returned");
        }
        $answered = \array_filter(
            $keys,
            static fn(string $key): bool => \array_key_exists($key, $loaded),
        );
        if ($loaded !== [] && $answered === [] && \array_is_list($loaded)) {
            throw new \TypeError(
                "$argument must return an array of values by key, a list was returned, "
                    . 'and no key is an index of it',
            );
        }
        return $loaded;
    }

    private static function end(string $id, int $serial): void
    {
        if (self::isValid($id, $serial)) {
            self::void($id);
        }
    }
}

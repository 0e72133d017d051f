<?php

declare(strict_types=1);

namespace BloomShm\Cache;

use BloomShm\Prefix;
use Psr\SimpleCache\CacheInterface;

/**
 * PSR-16 on the record store.
 *
 * No failure of the store comes out: without it, or where it is full or locked for too long, a read
 * gives the default and a write gives false. A value that can no longer be unserialized is absent.
 *
 * A record's key in the store is namespace, ":", key. PSR-16 keys have no ":", so clear() of one
 * namespace removes nothing else.
 */
final readonly class SimpleCache implements CacheInterface
{
    private const SECONDS_MAX = 315360000;
    private const KEY_BYTES_MAX = 65535;

    private string $prefix;

    /**
     * @param string $namespace Tells the caches of a host apart; may be empty. The same characters
     *     as in a key, at most 1,000 bytes.
     * @param int|\DateInterval|null $defaultTtl For what is set without a ttl; seconds. null: no
     *     limit. 0 or less: nothing is kept.
     * @throws InvalidArgumentException
     */
    public function __construct(
        string $namespace = '',
        private int|\DateInterval|null $defaultTtl = null,
    ) {
        if (\strlen($namespace) > 1000 || \strpbrk($namespace, '{}()/\@:') !== false) {
            throw new InvalidArgumentException(
                'A namespace has at most 1,000 bytes, and none of {}()/\@:',
            );
        }
        $this->prefix = $namespace . ':';
    }

    /**
     * The value, or the default.
     *
     * @throws InvalidArgumentException The key is not one of PSR-16.
     */
    public function get(mixed $key, mixed $default = null): mixed
    {
        $id = $this->id($key);
        try {
            return \bloom_cache_get($id, $default);
        } catch (\Throwable) {
            return $default;
        }
    }

    /**
     * Stores a value.
     *
     * @param mixed $ttl Seconds as an int, a DateInterval, or null: the default. 0 or less removes
     *     the key; above ten years counts as ten years.
     * @return bool false: it was not stored. Closures and what holds them cannot be.
     * @throws InvalidArgumentException The key or the ttl is not one of PSR-16.
     */
    public function set(mixed $key, mixed $value, mixed $ttl = null): bool
    {
        $id = $this->id($key);
        $seconds = $this->seconds($ttl);
        return $seconds < 0 ? $this->remove([$id]) : self::store($id, $value, $seconds);
    }

    /**
     * Removes a value.
     *
     * @return bool true: it is gone, or was not there.
     * @throws InvalidArgumentException
     */
    public function delete(mixed $key): bool
    {
        return $this->remove([$this->id($key)]);
    }

    /**
     * Removes all of this namespace. It looks at every key of the store.
     *
     * @return bool false: some may be left, because the store was locked for too long.
     */
    public function clear(): bool
    {
        return Prefix::clear($this->prefix);
    }

    /**
     * Many values at once.
     *
     * @param mixed $keys An iterable of keys.
     * @return array<string, mixed> By key; a key of digits is an int there, as in every array of
     *     PHP.
     * @throws InvalidArgumentException
     */
    public function getMultiple(mixed $keys, mixed $default = null): array
    {
        $ids = $this->ids($keys);
        try {
            $found = \bloom_cache_get_many($ids, $default);
        } catch (\Throwable) {
            $start = \strlen($this->prefix);
            return \array_map(
                fn(string $id): mixed => $this->get(\substr($id, $start), $default),
                $ids,
            );
        }
        return \array_combine(\array_keys($ids), $found);
    }

    /**
     * Stores many values.
     *
     * @param mixed $values An iterable of values by key.
     * @param mixed $ttl As in set().
     * @return bool false: at least one was not stored.
     * @throws InvalidArgumentException
     */
    public function setMultiple(mixed $values, mixed $ttl = null): bool
    {
        $seconds = $this->seconds($ttl);
        $records = [];
        foreach ($this->iterate($values) as $key => $value) {
            $records[$this->id(\is_int($key) ? (string) $key : $key)] = $value;
        }
        if ($seconds < 0) {
            return $this->remove(\array_keys($records));
        }
        try {
            return \bloom_cache_set_many($records, $seconds) === \count($records);
        } catch (\Throwable) {
            // None was stored, because one cannot be serialized.
            $stored = 0;
            foreach ($records as $id => $value) {
                $stored += (int) self::store($id, $value, $seconds);
            }
            return $stored === \count($records);
        }
    }

    /**
     * Removes many values.
     *
     * @param mixed $keys An iterable of keys.
     * @throws InvalidArgumentException
     */
    public function deleteMultiple(mixed $keys): bool
    {
        return $this->remove($this->ids($keys));
    }

    /**
     * Is there a value? It may be gone before it is read.
     *
     * @throws InvalidArgumentException
     */
    public function has(mixed $key): bool
    {
        return \bloom_cache_has($this->id($key));
    }

    /** The key in the store. */
    private function id(mixed $key): string
    {
        if (!\is_string($key) || $key === '' || \strpbrk($key, '{}()/\@:') !== false) {
            throw new InvalidArgumentException(
                'A key is a string that is not empty and has none of {}()/\@:',
            );
        }
        $id = $this->prefix . $key;
        if (\strlen($id) > self::KEY_BYTES_MAX) {
            throw new InvalidArgumentException(
                \sprintf('Namespace and key have at most %d bytes', self::KEY_BYTES_MAX - 1),
            );
        }
        return $id;
    }

    /**
     * The keys in the store, by key.
     *
     * @return array<string, string>
     */
    private function ids(mixed $keys): array
    {
        $ids = [];
        foreach ($this->iterate($keys) as $key) {
            $id = $this->id($key);
            $ids[\substr($id, \strlen($this->prefix))] = $id;
        }
        return $ids;
    }

    /**
     * @return iterable<mixed, mixed>
     */
    private function iterate(mixed $values): iterable
    {
        return \is_iterable($values)
            ? $values
            : throw new InvalidArgumentException('That is neither an array nor Traversable');
    }

    /** The ttl for the store; 0: no limit, -1: it has expired already. */
    private function seconds(mixed $ttl): int
    {
        $ttl ??= $this->defaultTtl;
        if ($ttl === null) {
            return 0;
        }
        if ($ttl instanceof \DateInterval) {
            $now = \time();
            $ttl = (new \DateTimeImmutable("@$now"))->add($ttl)->getTimestamp() - $now;
        }
        if (!\is_int($ttl)) {
            throw new InvalidArgumentException('A ttl is an int, a DateInterval or null');
        }
        return $ttl < 1 ? -1 : \min($ttl, self::SECONDS_MAX);
    }

    private static function store(string $id, mixed $value, int $seconds): bool
    {
        try {
            return \bloom_cache_set($id, $value, $seconds);
        } catch (\Throwable) {
            return false;
        }
    }

    /**
     * @param array<string> $ids
     * @return bool Is none of them there any more?
     */
    private function remove(array $ids): bool
    {
        $removed = \bloom_cache_delete_many($ids);
        return $removed === \count($ids)
            || !\in_array(true, \array_map(\bloom_cache_has(...), $ids), true);
    }
}

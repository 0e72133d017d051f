<?php

declare(strict_types=1);

namespace BloomShm\Laravel;

use BloomShm\Exception;
use BloomShm\Prefix;
use Illuminate\Cache\Lock;
use Illuminate\Cache\NoLock;
use Illuminate\Cache\TaggableStore;
use Illuminate\Contracts\Cache\LockProvider;

// An alias, which an authoritative class map of Composer's does not have.
require_once __DIR__ . '/FlushesLocks.php';

/**
 * Laravel's cache in the record store: one memory for all PHP processes of a host.
 *
 * A page never fails because of the cache. If the store is off, out of reach or busy, a read is a
 * miss, and a write gives false. So do a value that cannot be serialized (a closure), one whose
 * unserialize throws, and a key of more than 65,000 bytes.
 *
 * Time limits are in seconds, give or take half a second; 0 or less is none, and ten years is the
 * longest. The store evicts what has not been used for long, even if it has no limit.
 *
 * Tags are Laravel's own: a tag is a record with a random number, which is part of the keys of its
 * items. A flush changes the number; the items are then no longer found, and are evicted in time.
 *
 * The setting cache.serializable_classes has no effect, as for Laravel's apc and memcached stores.
 */
final class BloomShmStore extends TaggableStore implements LockProvider, FlushesLocks
{
    private string $items;

    private string $locks;

    /**
     * @param string $prefix Applications with different prefixes share nothing.
     */
    public function __construct(private string $prefix = '')
    {
        $this->setPrefix($prefix);
    }

    /**
     * @param string $key
     */
    public function get($key): mixed
    {
        try {
            return \bloom_cache_get($this->items . $key);
        } catch (\Throwable) {
            return null;
        }
    }

    /**
     * @param array<string|int> $keys
     * @return array<mixed> By key; null for each that is missing.
     */
    public function many(array $keys): array
    {
        try {
            $found = \bloom_cache_get_many(array_map(fn($key) => $this->items . $key, $keys));
        } catch (\Throwable) {
            $found = null; // one value cannot be read: the others can
        }
        $values = [];
        foreach ($keys as $key) {
            $values[$key] = $found === null
                ? $this->get((string) $key)
                : $found[$this->items . $key];
        }

        return $values;
    }

    /**
     * @param string $key
     * @param mixed $value
     * @param int|float|string|null $seconds
     */
    public function put($key, $value, $seconds): bool
    {
        $name = $this->items . $key;

        return $this->change($name, fn() => \bloom_cache_set($name, $value, self::ttl($seconds)));
    }

    /**
     * @param array<mixed> $values By key.
     * @param int|float|string|null $seconds
     * @return bool false: not all were stored; none, if one of them cannot be serialized.
     */
    public function putMany(array $values, $seconds): bool
    {
        $named = [];
        foreach ($values as $key => $value) {
            $named[$this->items . $key] = $value;
        }

        return $this->quietly(
            fn() => \bloom_cache_set_many($named, self::ttl($seconds)) === count($named),
        );
    }

    /**
     * Stores a value if there is none, in one step.
     *
     * @param string $key
     * @param mixed $value
     * @param int|float|string|null $seconds
     */
    public function add($key, $value, $seconds): bool
    {
        return $this->quietly(
            fn() => \bloom_cache_add($this->items . $key, $value, self::ttl($seconds)),
        );
    }

    /**
     * Adds to a number, in one step. A missing one counts as 0 and gets no time limit; the time
     * limit of an existing one stays. Any other scalar becomes an int first, as in Laravel's array
     * store.
     *
     * @param string $key
     * @param mixed $value An int, or a scalar that becomes one.
     * @return int|false false: refused, an array or object, or no 64-bit integer.
     */
    public function increment($key, $value = 1): int|false
    {
        $name = $this->items . $key;
        for ($tries = 0; $tries < 3; $tries++) { // between the steps another process may write
            try {
                return \bloom_cache_increment($name, is_scalar($value) ? (int) $value : 0);
            } catch (\Throwable $refusal) {
                $old = $refusal->getCode() === Exception::INCOMPATIBLE ? $this->get($key) : [];
            }
            match (true) {
                $old === null => \bloom_cache_delete($name),
                is_scalar($old) => \bloom_cache_cas($name, $old, (int) $old, null),
                default => $tries = 3,
            };
        }

        return false;
    }

    /**
     * The same as increment(), but subtracts.
     *
     * @param string $key
     * @param mixed $value An int, or a scalar that becomes one.
     * @return int|false As increment().
     */
    public function decrement($key, $value = 1): int|false
    {
        return $this->increment($key, is_scalar($value) ? -(int) $value : 0);
    }

    /**
     * @param string $key
     * @param mixed $value
     */
    public function forever($key, $value): bool
    {
        return $this->put($key, $value, 0);
    }

    /**
     * Sets the time limit of an item anew.
     *
     * @param string $key
     * @param int|float|string|null $seconds
     */
    public function touch($key, $seconds): bool
    {
        return $this->quietly(fn() => \bloom_cache_touch($this->items . $key, self::ttl($seconds)));
    }

    /**
     * @param string $key
     */
    public function forget($key): bool
    {
        $name = $this->items . $key;

        return $this->change($name, fn() => \bloom_cache_delete($name));
    }

    /**
     * Removes the items of this prefix. Locks stay, and so do other applications' items and what
     * bloom_fetch() keeps.
     */
    public function flush(): bool
    {
        return Prefix::clear($this->items);
    }

    /**
     * A lock for all processes that share the memory: see BloomShmLock. With bloomshm.enable=0
     * each process is granted it, as by Laravel's null store: otherwise scheduled tasks and unique
     * jobs would wait for ever while the store is switched off. Where the store cannot be used for
     * another reason, no lock is granted.
     *
     * @param string|int|\Stringable $name
     * @param int|float|string|null $seconds 0 or less, or null: until it is released.
     * @param string|null $owner
     */
    public function lock($name, $seconds = 0, $owner = null): Lock
    {
        $name = (string) $name;
        $seconds = BloomShmLock::whole($seconds);
        $enabled = ini_get('bloomshm.enable'); // false: the functions are those of the polyfill
        if ($enabled !== false && !filter_var($enabled, FILTER_VALIDATE_BOOL)) {
            return new NoLock($name, $seconds, $owner);
        }

        $name = strlen($name) > 1000 ? sha1($name) : $name;

        return new BloomShmLock($this->locks . $name, $seconds, $owner);
    }

    /**
     * @param string $name
     * @param string $owner
     */
    public function restoreLock($name, $owner): Lock
    {
        return $this->lock($name, 0, $owner);
    }

    /**
     * Removes the locks of this prefix, held or not.
     */
    public function flushLocks(): bool
    {
        return Prefix::clear($this->locks);
    }

    public function hasSeparateLockStore(): bool
    {
        return true;
    }

    public function getPrefix(): string
    {
        return $this->prefix;
    }

    /**
     * The NUL bytes keep `shop` from being a part of `shop-2`, and make every prefix a non-empty
     * one: an empty one would clear the whole store.
     *
     * @param string $prefix
     */
    public function setPrefix($prefix): void
    {
        $this->prefix = $prefix;
        $this->items = "laravel\0$prefix\0";
        $this->locks = "laravel.lock\0$prefix\0";
    }

    /**
     * @param mixed $seconds int; also a string of digits or a float, as settings often are.
     */
    private static function ttl(mixed $seconds): int
    {
        return min(max(BloomShmLock::whole($seconds), 0), BloomShmLock::LONGEST);
    }

    /**
     * The store gives a change up while a process that is not running holds its lock. An older
     * value would stay, of a flushed tag for instance: so the change is tried again. Where a value
     * is refused for another reason, no older one is left.
     *
     * @param \Closure(): bool $change
     */
    private function change(string $name, \Closure $change): bool
    {
        return $this->quietly(static function () use ($name, $change): bool {
            $tries = 0;
            do {
                $done = $change();
            } while (!$done && \bloom_cache_has($name) && ++$tries < BloomShmLock::MAX_TRIES);

            return $done;
        });
    }

    /**
     * @param \Closure(): bool $write
     */
    private function quietly(\Closure $write): bool
    {
        try {
            return $write();
        } catch (\Throwable) {
            return false;
        }
    }
}

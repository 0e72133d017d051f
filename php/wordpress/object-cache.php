<?php

/*
Plugin Name: bloomshm object cache
Description: Keeps the object cache of WordPress in the shared memory of the extension bloomshm.
Version: 1.0.0
License: MIT
*/

declare(strict_types=1);

/**
 * A drop-in of WordPress 6.1 and later: copy this file to wp-content/object-cache.php.
 *
 * What a page loads from the database is stored for all processes of the host, and an edit removes
 * or replaces it. Where there is no store (no extension, bloomshm.enable=0, a segment that cannot
 * be opened), this is the cache of WordPress itself: an array that ends with the request.
 *
 * The functions and methods are those of WordPress, with its names, arguments and results. They
 * accept any argument, as those of WordPress do, so their types are wide.
 */
function wp_cache_init(): void
{
    $cache = $GLOBALS['wp_object_cache'] = new WP_Object_Cache();
    // Without a store transients belong into the database, where WordPress keeps them if no other
    // cache is in use. Said later: while it starts, WordPress would load its own cache beside this.
    if (!$cache->has_store() && function_exists('add_action')) {
        $transients_to_database = static function (): void {
            wp_using_ext_object_cache(false);
        };
        add_action('muplugins_loaded', $transients_to_database, 0);
    }
}

/** See WP_Object_Cache::add(). */
function wp_cache_add(mixed $key, mixed $data, mixed $group = '', mixed $expire = 0): bool
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    return $wp_object_cache->add($key, $data, $group, $expire);
}

/**
 * See WP_Object_Cache::add_multiple().
 *
 * @param array<mixed> $data
 * @return array<bool>
 */
function wp_cache_add_multiple(array $data, mixed $group = '', mixed $expire = 0): array
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    return $wp_object_cache->add_multiple($data, $group, $expire);
}

/** See WP_Object_Cache::replace(). */
function wp_cache_replace(mixed $key, mixed $data, mixed $group = '', mixed $expire = 0): bool
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    return $wp_object_cache->replace($key, $data, $group, $expire);
}

/** See WP_Object_Cache::set(). */
function wp_cache_set(mixed $key, mixed $data, mixed $group = '', mixed $expire = 0): bool
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    return $wp_object_cache->set($key, $data, $group, $expire);
}

/**
 * See WP_Object_Cache::set_multiple().
 *
 * @param array<mixed> $data
 * @return array<bool>
 */
function wp_cache_set_multiple(array $data, mixed $group = '', mixed $expire = 0): array
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    return $wp_object_cache->set_multiple($data, $group, $expire);
}

/** See WP_Object_Cache::get(). */
function wp_cache_get(
    mixed $key,
    mixed $group = '',
    mixed $force = false,
    mixed &$found = null,
): mixed {
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    return $wp_object_cache->get($key, $group, $force, $found);
}

/**
 * See WP_Object_Cache::get_multiple().
 *
 * @return array<mixed>
 */
function wp_cache_get_multiple(mixed $keys, mixed $group = '', mixed $force = false): array
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    return $wp_object_cache->get_multiple($keys, $group, $force);
}

/** See WP_Object_Cache::delete(). */
function wp_cache_delete(mixed $key, mixed $group = ''): bool
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    return $wp_object_cache->delete($key, $group);
}

/**
 * See WP_Object_Cache::delete_multiple().
 *
 * @param array<mixed> $keys
 * @return array<bool>
 */
function wp_cache_delete_multiple(array $keys, mixed $group = ''): array
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    return $wp_object_cache->delete_multiple($keys, $group);
}

/** See WP_Object_Cache::incr(). */
function wp_cache_incr(mixed $key, mixed $offset = 1, mixed $group = ''): int|float|false
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    return $wp_object_cache->incr($key, $offset, $group);
}

/** See WP_Object_Cache::decr(). */
function wp_cache_decr(mixed $key, mixed $offset = 1, mixed $group = ''): int|float|false
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    return $wp_object_cache->decr($key, $offset, $group);
}

/** See WP_Object_Cache::flush(). */
function wp_cache_flush(): bool
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    return $wp_object_cache->flush();
}

/** See WP_Object_Cache::flush_runtime(). */
function wp_cache_flush_runtime(): bool
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    return $wp_object_cache->flush_runtime();
}

/** See WP_Object_Cache::flush_group(). */
function wp_cache_flush_group(mixed $group): bool
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    return $wp_object_cache->flush_group($group);
}

/**
 * Whether the cache has a feature that WordPress asks about before it uses it.
 */
function wp_cache_supports(mixed $feature): bool
{
    return in_array($feature, [
        'add_multiple', 'set_multiple', 'get_multiple', 'delete_multiple', 'flush_runtime',
        'flush_group',
    ], true);
}

/**
 * There is nothing to close.
 *
 * @return true
 */
function wp_cache_close(): bool
{
    return true;
}

/** See WP_Object_Cache::add_global_groups(). */
function wp_cache_add_global_groups(mixed $groups): void
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    $wp_object_cache->add_global_groups($groups);
}

/** See WP_Object_Cache::add_non_persistent_groups(). */
function wp_cache_add_non_persistent_groups(mixed $groups): void
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    $wp_object_cache->add_non_persistent_groups($groups);
}

/** See WP_Object_Cache::switch_to_blog(). */
function wp_cache_switch_to_blog(mixed $blog_id): void
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    $wp_object_cache->switch_to_blog($blog_id);
}

/** See WP_Object_Cache::reset(). */
function wp_cache_reset(): void
{
    /** @var WP_Object_Cache $wp_object_cache */
    global $wp_object_cache;

    $wp_object_cache->reset();
}

/**
 * The object cache: an array for the request, in front of the records that all requests share.
 *
 * A record's key is "wp:GROUP:VERSION:KEY", in a network "wp:GROUP:VERSION:BLOG:KEY" but for global
 * groups. The version of a group is a random text in a record of its own, whose key has the version
 * of the installation, another such record. A flush writes a new version: the older records are
 * never asked for again, and are evicted in time. If the record of a version is evicted, the next
 * process makes a new one, and the group begins empty. Reads use the versions that the request has
 * read first; each write reads them anew, so a change reaches the records that other processes use.
 *
 * What the store refuses (a value above a quarter of its memory, a closure, a lock that is not to
 * be had) stays in the array: the request goes on with it, the method gives false, and an older
 * record is removed.
 *
 * Not final, and its properties public and open to new ones: plugins extend it and use them.
 */
#[AllowDynamicProperties]
class WP_Object_Cache
{
    /** The longest time to live that the store takes, in seconds: ten years. */
    private const MAX_TTL = 315_360_000;

    /** How often a count is tried again because another process changed the record meanwhile. */
    private const MAX_TRIES = 100;

    /** @var array<array<mixed>> Group => key => value: what this request has read and written. */
    public array $cache = [];

    public int $cache_hits = 0;

    public int $cache_misses = 0;

    /** @var array<true> By group: shared by all sites of a network. */
    public array $global_groups = [];

    public bool $multisite;

    /** Begins the keys of the current site of a network, except in global groups. */
    public string $blog_prefix;

    /** @var array<true> By group: kept in the array only. */
    private array $non_persistent_groups = [];

    /** @var array<string> Group => what its records' keys begin with; '': none are stored. */
    private array $prefixes = [];

    /** The key of the record with the version of the installation; '': no extension. */
    private readonly string $site;

    /** What the store gives for a record that is not there; no stored value is the same. */
    private readonly stdClass $none;

    public function __construct()
    {
        $this->multisite = is_multisite();
        $this->blog_prefix = $this->multisite ? get_current_blog_id() . ':' : '';
        $this->site = extension_loaded('bloomshm') ? 'wp:' . self::identity() : '';
        $this->none = new stdClass();
    }

    /**
     * Whether values outlive the request.
     */
    public function has_store(): bool
    {
        return $this->version($this->site) !== '';
    }

    /**
     * Stores a value if there is none under the key.
     *
     * @param mixed $key int, or string that is not blank.
     * @param mixed $data Any value.
     * @param mixed $group string; empty: "default".
     * @param mixed $expire Seconds; 0: no limit; below 0: a second. The request itself keeps the
     *     value longer.
     * @return bool false: there is one, or wp_suspend_cache_addition() is on, or the store refused
     *     the value.
     */
    public function add(
        mixed $key,
        mixed $data,
        mixed $group = 'default',
        mixed $expire = 0,
    ): bool {
        return !wp_suspend_cache_addition() && $this->is_valid($key, __METHOD__)
            && $this->write('add', $key, $data, self::group($group), $expire);
    }

    /**
     * @param array<mixed> $data Key => value.
     * @return array<bool> By key: what add() gives.
     */
    public function add_multiple(array $data, mixed $group = '', mixed $expire = 0): array
    {
        $added = [];
        foreach ($data as $key => $value) {
            $added[$key] = $this->add($key, $value, $group, $expire);
        }

        return $added;
    }

    /**
     * Stores a value if there is one under the key; otherwise as add().
     *
     * @return bool false: there is none, or the store refused the value.
     */
    public function replace(
        mixed $key,
        mixed $data,
        mixed $group = 'default',
        mixed $expire = 0,
    ): bool {
        return $this->is_valid($key, __METHOD__)
            && $this->write('replace', $key, $data, self::group($group), $expire);
    }

    /**
     * Stores a value; otherwise as add().
     *
     * @return bool false: the store refused the value; the request has it all the same.
     */
    public function set(
        mixed $key,
        mixed $data,
        mixed $group = 'default',
        mixed $expire = 0,
    ): bool {
        return $this->is_valid($key, __METHOD__)
            && $this->write('set', $key, $data, self::group($group), $expire);
    }

    /**
     * @param array<mixed> $data Key => value.
     * @return array<bool> By key: what set() gives.
     */
    public function set_multiple(array $data, mixed $group = '', mixed $expire = 0): array
    {
        $set = [];
        foreach ($data as $key => $value) {
            $set[$key] = $this->set($key, $value, $group, $expire);
        }

        return $set;
    }

    /**
     * Reads a value.
     *
     * @param mixed $key int, or string that is not blank.
     * @param mixed $group string; empty: "default".
     * @param mixed $force true: asks the store, whatever the request has read before.
     * @param mixed $found Set to whether there is a value: false may be one.
     * @return mixed The value; of an object, a copy. false: there is none.
     */
    public function get(
        mixed $key,
        mixed $group = 'default',
        mixed $force = false,
        mixed &$found = null,
    ): mixed {
        if (!is_int($key) && (!is_string($key) || trim($key) === '')) {
            return $this->is_valid($key, __METHOD__);
        }
        $group = is_string($group) && (bool) $group ? $group : self::group($group);
        $id = isset($this->global_groups[$group]) ? $key : $this->blog_prefix . $key;
        $none = $this->none;
        $value = $this->cache[$group][$id] ?? $none;
        if ($value === $none || (bool) $force) {
            $prefix = (bool) $force ? $this->prefix($group)
                : $this->prefixes[$group] ?? $this->prefix($group);
            try {
                $value = $prefix === '' ? $none : bloom_cache_get($prefix . $id, $none);
            } catch (Throwable) {
                $value = $this->unreadable($prefix . $id);
            }
            if ($value !== $none) {
                $this->cache[$group][$id] = $value;
            } elseif (array_key_exists($id, $this->cache[$group] ?? [])) {
                $value = $this->own($group, (string) $id, $prefix !== '' && (bool) $force);
            }
        }
        if ($value === $none) {
            $found = false;
            ++$this->cache_misses;

            return false;
        }
        $found = true;
        ++$this->cache_hits;

        return is_object($value) ? clone $value : $value;
    }

    /**
     * Reads many values; the store is asked once for all of them.
     *
     * @param mixed $keys Array of keys.
     * @return array<mixed> By key, in the order of $keys: what get() gives.
     */
    public function get_multiple(
        mixed $keys,
        mixed $group = 'default',
        mixed $force = false,
    ): array {
        $group = self::group($group);
        $prefix = (bool) $force ? $this->prefix($group)
            : $this->prefixes[$group] ?? $this->prefix($group);
        $asked = [];
        $open = [];
        foreach (is_iterable($keys) ? $keys : [] as $key) {
            if (!$this->is_valid($key, __METHOD__)) {
                $asked[] = [is_string($key) ? $key : '', null];
                continue;
            }
            $id = $this->id($key, $group);
            $asked[] = [$key, $id];
            if ($prefix !== '' && ((bool) $force || !$this->exists($group, $id))) {
                $open[$prefix . $id] = $id;
            }
        }
        foreach ($this->fetch_many(array_keys($open)) as $record => $value) {
            $this->keep($group, $open[$record], $value);
        }
        $values = [];
        foreach ($asked as [$key, $id]) {
            $found = $id !== null && $this->exists($group, $id);
            $value = $found ? $this->cache[$group][$id] : false;
            $values[$key] = is_object($value) ? clone $value : $value;
            $this->cache_hits += (int) $found;
            $this->cache_misses += (int) ($id !== null && !$found);
        }

        return $values;
    }

    /**
     * Removes a value.
     *
     * @param mixed $deprecated Not used; WordPress has it.
     * @return bool false: there was none.
     */
    public function delete(
        mixed $key,
        mixed $group = 'default',
        mixed $deprecated = false,
    ): bool {
        if (!$this->is_valid($key, __METHOD__)) {
            return false;
        }
        $group = self::group($group);
        $id = $this->id($key, $group);
        $prefix = $this->prefix($group);
        $there = $this->exists($group, $id);
        $this->keep($group, $id, $this->none);

        return $prefix !== '' && $this->remove($prefix . $id, $group) || $there;
    }

    /**
     * @param array<mixed> $keys
     * @return array<bool> By key: what delete() gives.
     */
    public function delete_multiple(array $keys, mixed $group = ''): array
    {
        $deleted = [];
        foreach ($keys as $key) {
            $deleted[is_int($key) || is_string($key) ? $key : ''] = $this->delete($key, $group);
        }

        return $deleted;
    }

    /**
     * Adds to a number in one step, also if several processes do. What is not a number counts as 0,
     * and a result below 0 is 0. The value keeps its time to live.
     *
     * @param mixed $offset int; may be negative.
     * @return int|float|false The new value; false: there is none.
     */
    public function incr(
        mixed $key,
        mixed $offset = 1,
        mixed $group = 'default',
    ): int|float|false {
        return $this->is_valid($key, __METHOD__)
            ? $this->count($key, self::int($offset), self::group($group)) : false;
    }

    /**
     * Subtracts from a number; otherwise as incr().
     */
    public function decr(
        mixed $key,
        mixed $offset = 1,
        mixed $group = 'default',
    ): int|float|false {
        return $this->is_valid($key, __METHOD__)
            ? $this->count($key, -self::int($offset), self::group($group)) : false;
    }

    /**
     * Removes everything of this installation, for all sites of a network.
     *
     * @return bool false: the store could not be changed; other processes have what they had.
     */
    public function flush(): bool
    {
        $this->flush_runtime();

        return $this->renew($this->site);
    }

    /**
     * Forgets what this request has read: the store is asked again. For workers that run long.
     *
     * @return true
     */
    public function flush_runtime(): bool
    {
        $this->cache = [];
        $this->prefixes = [];

        return true;
    }

    /**
     * Removes a group, for all sites of a network.
     *
     * @return bool false: the store could not be changed; other processes have what they had.
     */
    public function flush_group(mixed $group): bool
    {
        $group = self::group($group);
        unset($this->cache[$group], $this->prefixes[$group]);
        $site = $this->version($this->site);

        return $site === '' || $this->renew("wp:$site:$group");
    }

    /**
     * Groups that all sites of a network share.
     *
     * @param mixed $groups string, or an array of them.
     */
    public function add_global_groups(mixed $groups): void
    {
        $this->global_groups = self::names($groups) + $this->global_groups;
    }

    /**
     * Groups that end with the request.
     *
     * @param mixed $groups string, or an array of them.
     */
    public function add_non_persistent_groups(mixed $groups): void
    {
        $this->non_persistent_groups = self::names($groups) + $this->non_persistent_groups;
        $this->prefixes = [];
    }

    /**
     * Makes another site of the network the current one.
     *
     * @param mixed $blog_id int
     */
    public function switch_to_blog(mixed $blog_id): void
    {
        $this->blog_prefix = $this->multisite ? self::int($blog_id) . ':' : '';
    }

    /**
     * Forgets what the request has read of groups that are not global.
     *
     * @deprecated WordPress 3.5.0; use switch_to_blog().
     */
    public function reset(): void
    {
        _deprecated_function(__FUNCTION__, '3.5.0', 'WP_Object_Cache::switch_to_blog()');
        $this->cache = array_intersect_key($this->cache, $this->global_groups);
    }

    /**
     * Prints what the request has asked and read.
     */
    public function stats(): void
    {
        echo "<p><strong>Cache Hits:</strong> {$this->cache_hits}<br />";
        echo "<strong>Cache Misses:</strong> {$this->cache_misses}<br /></p><ul>";
        foreach ($this->cache as $group => $values) {
            $name = esc_html((string) $group);
            printf('<li><strong>Group:</strong> %s - ( %d values )</li>', $name, count($values));
        }
        echo '</ul>';
    }

    /**
     * What tells this installation from the others of the host. WP_CACHE_KEY_SALT alone may have
     * been copied to another site with the rest of wp-config.php.
     */
    private static function identity(): string
    {
        $wpdb = $GLOBALS['wpdb'] ?? null;
        $parts = [$wpdb instanceof wpdb ? $wpdb->base_prefix : ''];
        foreach (['WP_CACHE_KEY_SALT', 'DB_HOST', 'DB_NAME', 'AUTH_KEY'] as $name) {
            $parts[] = defined($name) ? constant($name) : '';
        }

        return substr(hash('sha256', serialize($parts)), 0, 32);
    }

    private static function group(mixed $group): string
    {
        $name = is_scalar($group) ? (string) $group : '';

        return $name === '' || $name === '0' ? 'default' : $name;
    }

    private static function int(mixed $number): int
    {
        return is_numeric($number) ? (int) $number : 0;
    }

    /**
     * @return array<true> By name.
     */
    private static function names(mixed $names): array
    {
        return array_fill_keys(array_filter((array) $names, is_string(...)), true);
    }

    /**
     * Reports a wrong key, as WordPress does, in the language of the site.
     *
     * @phpstan-assert-if-true =int|string $key
     */
    private function is_valid(mixed $key, string $method): bool
    {
        if (is_int($key) || is_string($key) && trim($key) !== '') {
            return true;
        }
        $translate = function_exists('__') ? __(...) : strval(...);
        _doing_it_wrong($method, is_string($key)
            ? $translate('Cache key must not be an empty string.')
            : sprintf(
                $translate('Cache key must be integer or non-empty string, %s given.'),
                gettype($key),
            ), '6.1.0');

        return false;
    }

    /**
     * The key in the array of the request, and the end of the key of the record.
     */
    private function id(int|string $key, string $group): string
    {
        return isset($this->global_groups[$group]) ? (string) $key : $this->blog_prefix . $key;
    }

    private function exists(string $group, string $id): bool
    {
        return isset($this->cache[$group][$id])
            || array_key_exists($id, $this->cache[$group] ?? []);
    }

    /**
     * Puts a value into the array of the request, or takes it out.
     */
    private function keep(string $group, string $id, mixed $value): void
    {
        if ($value === $this->none) {
            unset($this->cache[$group][$id]);
        } else {
            $this->cache[$group][$id] = $value;
        }
    }

    /**
     * What the request has where the store has nothing: a null, or what the store refused.
     *
     * @param bool $asked The store was asked for its sake: the request has it no more.
     */
    private function own(string $group, string $id, bool $asked): mixed
    {
        $value = $asked ? $this->none : $this->cache[$group][$id];
        $this->keep($group, $id, $value);

        return $value;
    }

    /**
     * Reads the versions. Gives what the keys of a group's records begin with; '': none are stored.
     */
    private function prefix(string $group): string
    {
        $site = isset($this->non_persistent_groups[$group]) ? '' : $this->version($this->site);
        $version = $site === '' ? '' : $this->version("wp:$site:$group");

        return $this->prefixes[$group] = $version === '' ? '' : "wp:$group:$version:";
    }

    /**
     * The version that a record holds; the first process that asks makes it. '': no store.
     */
    private function version(string $record): string
    {
        $version = $record === '' ? '' : $this->ask('bloom_cache_get', $record);
        if (!is_string($version)) {
            $made = bin2hex(random_bytes(12));
            $version = $this->ask('bloom_cache_add', $record, $made) === true
                ? $made : $this->ask('bloom_cache_get', $record);
        }

        return is_string($version) ? $version : '';
    }

    /**
     * Writes a new version.
     *
     * @return bool false: an older one is still there.
     */
    private function renew(string $record): bool
    {
        return $record === ''
            || $this->ask('bloom_cache_set', $record, bin2hex(random_bytes(12))) === true
            || $this->ask('bloom_cache_has', $record) !== true;
    }

    /**
     * Calls a function of the store. What it throws is a refusal.
     *
     * @param callable-string $function
     */
    private function ask(string $function, mixed ...$arguments): mixed
    {
        try {
            return $function(...$arguments);
        } catch (Throwable) {
            return false;
        }
    }

    /**
     * Reads a record; $none if there is none.
     */
    private function fetch(string $record): mixed
    {
        try {
            return bloom_cache_get($record, $this->none);
        } catch (Throwable) {
            return $this->unreadable($record);
        }
    }

    /**
     * A record that cannot be unserialized is removed, so that a new one can be added.
     */
    private function unreadable(string $record): stdClass
    {
        $this->ask('bloom_cache_delete', $record);

        return $this->none;
    }

    /**
     * @param list<string> $records
     * @return array<mixed> By record.
     */
    private function fetch_many(array $records): array
    {
        try {
            return bloom_cache_get_many($records, $this->none);
        } catch (Throwable) {
            return array_combine($records, array_map($this->fetch(...), $records));
        }
    }

    /**
     * Removes a record. Where its lock is not to be had, a new version hides the whole group.
     *
     * @return bool false: there was none.
     */
    private function remove(string $record, string $group): bool
    {
        return $this->ask('bloom_cache_delete', $record) === true
            || $this->ask('bloom_cache_has', $record) === true && $this->flush_group($group);
    }

    /**
     * @param 'add'|'replace'|'set' $verb
     */
    private function write(
        string $verb,
        int|string $key,
        mixed $data,
        string $group,
        mixed $expire,
    ): bool {
        $id = $this->id($key, $group);
        $prefix = $this->prefix($group);
        $record = $prefix . $id;
        $ttl = self::int($expire);
        $ttl = $ttl < 0 ? 1 : min($ttl, self::MAX_TTL);
        $data = is_object($data) ? clone $data : $data;
        $written = $prefix === ''
            ? $verb === 'set' || $this->exists($group, $id) === ($verb === 'replace')
            : $this->ask("bloom_cache_$verb", $record, $data, $ttl) === true;
        if (!$written) {
            $there = $this->exists($group, $id)
                || $prefix !== '' && $this->ask('bloom_cache_has', $record) === true;
            if ($verb === 'add' ? $there : $verb === 'replace' && !$there) {
                return false;
            }
            $this->remove($record, $group);
        }
        $this->cache[$group][$id] = $data;

        return $written;
    }

    private function count(int|string $key, int|float $by, string $group): int|float|false
    {
        $id = $this->id($key, $group);
        $prefix = $this->prefix($group);
        for ($tries = 0; $tries < self::MAX_TRIES; ++$tries) {
            if ($prefix !== '') {
                $this->keep($group, $id, $this->fetch($prefix . $id));
            }
            if (!$this->exists($group, $id)) {
                return false;
            }
            $old = $this->cache[$group][$id];
            $new = max(0, (is_numeric($old) ? $old : 0) + $by);
            // For the store null is no value that a record could be compared with.
            if (
                $prefix === '' || ($old === null
                    ? $this->ask('bloom_cache_replace', $prefix . $id, $new)
                    : $this->ask('bloom_cache_cas', $prefix . $id, $old, $new, null)) === true
            ) {
                return $this->cache[$group][$id] = $new;
            }
        }

        return false;
    }
}

<?php

declare(strict_types=1);

/*
 * The functions of the extension in plain PHP, for a process without it. stubs/bloomshm.php of the
 * project has their documentation.
 *
 * A filter that every process shares cannot be had in plain PHP, so all are "out of reach": every
 * question is answered "maybe", which is correct, and what would create a filter throws
 * UNAVAILABLE. The records are those of the process; see Store.
 */

use BloomShm\Exception;
use BloomShm\Polyfill\Arguments;
use BloomShm\Polyfill\Loader;
use BloomShm\Polyfill\Status;
use BloomShm\Polyfill\Store;

function bloom_reserve(
    string $filter,
    int $capacity,
    float $error_rate = 0.01,
    int $expansion = 2,
    int $window = 0,
    bool $counting = false,
    ?string $seed = null,
): bool {
    Arguments::name(__FUNCTION__, $filter);
    Arguments::capacity(__FUNCTION__, 2, $capacity);
    Arguments::parameters(__FUNCTION__, 3, $error_rate, 4, $expansion, 7, $seed);
    Arguments::kind(__FUNCTION__, 4, $expansion, 6, $counting, 5, $window);
    Status::unavailable();
}

/**
 * @param iterable<mixed> $keys
 * @return array<bool>
 */
function bloom_insert(
    string $filter,
    iterable $keys,
    int $capacity = 100,
    float $error_rate = 0.01,
    int $expansion = 2,
    bool $create = true,
): array {
    Arguments::name(__FUNCTION__, $filter);
    Arguments::capacity(__FUNCTION__, 3, $capacity);
    Arguments::parameters(__FUNCTION__, 4, $error_rate, 5, $expansion);
    Arguments::keys(__FUNCTION__, 2, $keys, rows: true);
    Status::unavailable();
}

function bloom_add(string $filter, string $key): bool
{
    Arguments::name(__FUNCTION__, $filter);
    return false;
}

/** @param iterable<mixed> $keys */
function bloom_add_many(string $filter, iterable $keys): int
{
    Arguments::name(__FUNCTION__, $filter);
    Arguments::keys(__FUNCTION__, 2, $keys, rows: true);
    return 0;
}

function bloom_maybe_has(string $filter, string $key): bool
{
    Arguments::name(__FUNCTION__, $filter);
    Status::count(1);
    return true;
}

/**
 * @param array<mixed> $keys
 * @return array<bool>
 */
function bloom_maybe_has_many(string $filter, array $keys): array
{
    $asked = Arguments::keys(__FUNCTION__, 2, $keys);
    Arguments::name(__FUNCTION__, $filter);
    Status::count(\count($asked));
    return \array_map(static fn(string $key): bool => true, $asked);
}

function bloom_remove(string $filter, string $key): bool
{
    Arguments::name(__FUNCTION__, $filter);
    return false;
}

function bloom_count(string $filter, string $key): int
{
    Arguments::name(__FUNCTION__, $filter);
    return 15;
}

/**
 * @param iterable<mixed> $keys
 * @return array<string, mixed>
 */
function bloom_load(
    string $filter,
    iterable $keys,
    float $error_rate = 0.01,
    ?int $capacity = null,
    ?float $max_error_rate = null,
    int $expansion = 2,
    bool $counting = false,
    ?string $seed = null,
    bool $allow_empty = false,
    bool $like = false,
): array {
    Arguments::name(__FUNCTION__, $filter);
    Arguments::parameters(__FUNCTION__, 3, $error_rate, 6, $expansion, 8, $seed);
    Arguments::kind(__FUNCTION__, 6, $expansion, 7, $counting);
    Arguments::like(__FUNCTION__, 8, $like, $seed);
    Arguments::capacity(__FUNCTION__, 4, $capacity ?? 1);
    Arguments::limit(__FUNCTION__, $max_error_rate);
    Status::unavailable();
}

/** @return array<string, mixed> */
function bloom_load_file(
    string $filter,
    string $path,
    float $error_rate = 0.01,
    ?int $capacity = null,
    ?float $max_error_rate = null,
    string $delimiter = "\n",
    int $expansion = 2,
    ?string $seed = null,
    bool $allow_empty = false,
    bool $like = false,
): array {
    Arguments::name(__FUNCTION__, $filter);
    Arguments::parameters(__FUNCTION__, 3, $error_rate, 7, $expansion, 8, $seed);
    Arguments::like(__FUNCTION__, 8, $like, $seed);
    Arguments::capacity(__FUNCTION__, 4, $capacity ?? 1);
    Arguments::limit(__FUNCTION__, $max_error_rate);
    if (\strlen($delimiter) !== 1) {
        $rule = 'must be one byte, %d given';
        Arguments::refuse(__FUNCTION__, 6, 'delimiter', $rule, \strlen($delimiter));
    }
    Arguments::path(__FUNCTION__, 2, $path);
    Status::unavailable();
}

function bloom_drop(string $filter): bool
{
    Arguments::name(__FUNCTION__, $filter);
    return false;
}

function bloom_clear(string $filter): bool
{
    Arguments::name(__FUNCTION__, $filter);
    return false;
}

function bloom_rename(string $from, string $to): bool
{
    Arguments::name(__FUNCTION__, $from, 1, 'from');
    Arguments::name(__FUNCTION__, $to, 2, 'to');
    Status::unavailable();
}

function bloom_copy(string $from, string $to): bool
{
    Arguments::name(__FUNCTION__, $from, 1, 'from');
    Arguments::name(__FUNCTION__, $to, 2, 'to');
    Status::unavailable();
}

function bloom_merge(string $into, string ...$from): bool
{
    Arguments::name(__FUNCTION__, $into, 1, 'into');
    foreach (\array_values($from) as $index => $name) {
        Arguments::name(__FUNCTION__, $name, $index + 2, '');
    }
    Status::unavailable();
}

function bloom_dump(string $filter, string $path): int
{
    Arguments::name(__FUNCTION__, $filter);
    Arguments::path(__FUNCTION__, 2, $path);
    Status::unavailable();
}

function bloom_restore(string $filter, string $path): bool
{
    Arguments::name(__FUNCTION__, $filter);
    Arguments::path(__FUNCTION__, 2, $path);
    Status::unavailable();
}

function bloom_ready(string $filter): bool
{
    Arguments::name(__FUNCTION__, $filter);
    return false;
}

/** @return list<string> */
function bloom_list(): array
{
    return [];
}

/** @return array<mixed>|null */
function bloom_info(string $filter): ?array
{
    return Status::describe(__FUNCTION__, $filter);
}

/** @return array<mixed>|null */
function bloom_runs(string $filter): ?array
{
    return Status::describe(__FUNCTION__, $filter);
}

/** @return array<mixed>|null */
function bloom_fills(string $filter): ?array
{
    return Status::describe(__FUNCTION__, $filter);
}

/** @return array<string, mixed> */
function bloom_status(): array
{
    return Status::read();
}

/** @return list<string> */
function bloom_verify(): array
{
    return [Status::REASON];
}

function bloom_fetch(string $filter, string $key, callable $load, int $ttl = 0): mixed
{
    Arguments::name(__FUNCTION__, $filter);
    Arguments::ttl(__FUNCTION__, 4, $ttl);
    return Loader::one(Loader::id($filter, $key), $key, $load, $ttl, nulls: false);
}

/**
 * @param array<mixed> $keys
 * @return array<mixed>
 */
function bloom_fetch_many(string $filter, array $keys, callable $load, int $ttl = 0): array
{
    Arguments::name(__FUNCTION__, $filter);
    Arguments::ttl(__FUNCTION__, 4, $ttl);
    $asked = Arguments::keys(__FUNCTION__, 2, $keys);
    return Loader::many(
        $asked,
        static fn(string $key): string => Loader::id($filter, $key),
        $load,
        $ttl,
        nulls: false,
        argument: __FUNCTION__ . '(): Argument #3 ($load)',
    );
}

function bloom_forget(string $filter, string $key): bool
{
    Arguments::name(__FUNCTION__, $filter);
    return Store::remove(Loader::id($filter, $key));
}

function bloom_cache_get(string $key, mixed $default = null): mixed
{
    Arguments::key(__FUNCTION__, $key);
    return Store::read("c$key", $value) ? $value : $default;
}

/**
 * @param array<mixed> $keys
 * @return array<mixed>
 */
function bloom_cache_get_many(array $keys, mixed $default = null): array
{
    $values = [];
    foreach (Arguments::recordKeys(__FUNCTION__, $keys) as $key) {
        $values[$key] = Store::read("c$key", $value) ? $value : $default;
    }
    return $values;
}

function bloom_cache_set(string $key, mixed $value, int $ttl = 0): bool
{
    Arguments::key(__FUNCTION__, $key);
    Arguments::ttl(__FUNCTION__, 3, $ttl);
    return Store::set("c$key", Store::pack($value), $ttl);
}

/** @param array<mixed> $values */
function bloom_cache_set_many(array $values, int $ttl = 0): int
{
    Arguments::ttl(__FUNCTION__, 2, $ttl);
    foreach (\array_keys($values) as $key) {
        Arguments::key(__FUNCTION__, (string) $key, 'values');
    }
    $stored = 0;
    foreach (\array_map(Store::pack(...), $values) as $key => $value) {
        $stored += (int) Store::set("c$key", $value, $ttl);
    }
    return $stored;
}

function bloom_cache_add(string $key, mixed $value, int $ttl = 0): bool
{
    Arguments::key(__FUNCTION__, $key);
    Arguments::ttl(__FUNCTION__, 3, $ttl);
    $packed = Store::pack($value);
    return Store::find("c$key") === null && Store::put("c$key", $packed, Store::expiry($ttl));
}

function bloom_cache_replace(string $key, mixed $value, int $ttl = 0): bool
{
    Arguments::key(__FUNCTION__, $key);
    Arguments::ttl(__FUNCTION__, 3, $ttl);
    $packed = Store::pack($value);
    return Store::find("c$key") !== null && Store::put("c$key", $packed, Store::expiry($ttl));
}

function bloom_cache_has(string $key): bool
{
    Arguments::key(__FUNCTION__, $key);
    return Store::find("c$key") !== null;
}

function bloom_cache_delete(string $key): bool
{
    Arguments::key(__FUNCTION__, $key);
    return Store::remove("c$key");
}

/** @param array<mixed> $keys */
function bloom_cache_delete_many(array $keys): int
{
    $removed = 0;
    foreach (Arguments::recordKeys(__FUNCTION__, $keys) as $key) {
        $removed += (int) Store::remove("c$key");
    }
    return $removed;
}

function bloom_cache_increment(
    string $key,
    int $by = 1,
    int $initial = 0,
    int $ttl = 0,
    bool $create = true,
): int|false {
    Arguments::key(__FUNCTION__, $key);
    Arguments::ttl(__FUNCTION__, 4, $ttl);
    return Store::increment($key, $by, false, $initial, $ttl, $create);
}

function bloom_cache_decrement(
    string $key,
    int $by = 1,
    int $initial = 0,
    int $ttl = 0,
    bool $create = true,
): int|false {
    Arguments::key(__FUNCTION__, $key);
    Arguments::ttl(__FUNCTION__, 4, $ttl);
    return Store::increment($key, $by, true, $initial, $ttl, $create);
}

function bloom_cache_cas(string $key, mixed $expected, mixed $new, ?int $ttl = 0): bool
{
    Arguments::key(__FUNCTION__, $key);
    Arguments::ttl(__FUNCTION__, 4, $ttl ?? 0);
    $before = Store::pack($expected);
    $after = Store::pack($new);
    $record = Store::find("c$key");
    $expects = $expected === null ? $record === null : $record?->holds($before) === true;
    return $expects && Store::put("c$key", $after, $ttl === null ? null : Store::expiry($ttl));
}

function bloom_cache_append(string $key, string $suffix, string $delimiter = ""): int
{
    Arguments::key(__FUNCTION__, $key);
    $record = Store::find("c$key");
    if ($record !== null) {
        if (!\is_string($record->stored)) {
            Status::fail(Exception::INCOMPATIBLE, "the record \"$key\" is not a string");
        }
        $suffix = $record->stored . $delimiter . $suffix;
    }
    if (!Store::put("c$key", $suffix, null)) {
        $rule = \sprintf('would have more than %d bytes', Store::RECORD_BYTES_MAX);
        Status::fail(Exception::NO_SPACE, "the record \"$key\" $rule");
    }
    return \strlen($suffix);
}

function bloom_cache_touch(string $key, int $ttl): bool
{
    Arguments::key(__FUNCTION__, $key);
    Arguments::ttl(__FUNCTION__, 2, $ttl);
    $record = Store::find("c$key");
    return $record !== null && Store::put("c$key", $record->stored, Store::expiry($ttl));
}

function bloom_cache_remember(string $key, callable $load, int $ttl = 0): mixed
{
    Arguments::key(__FUNCTION__, $key);
    Arguments::ttl(__FUNCTION__, 3, $ttl);
    return Loader::one("c$key", $key, $load, $ttl, nulls: true);
}

/**
 * @param array<mixed> $keys
 * @return array<mixed>
 */
function bloom_cache_remember_many(array $keys, callable $load, int $ttl = 0): array
{
    Arguments::ttl(__FUNCTION__, 3, $ttl);
    $asked = Arguments::recordKeys(__FUNCTION__, $keys);
    return Loader::many(
        $asked,
        static fn(string $key): string => "c$key",
        $load,
        $ttl,
        nulls: true,
        argument: __FUNCTION__ . '(): Argument #2 ($load)',
    );
}

/** @return array{string, mixed}|null */
function bloom_cache_pop_oldest(): ?array
{
    $id = Store::oldest();
    if ($id === null) {
        return null;
    }
    $record = Store::find($id);
    Store::remove($id);
    return [\substr($id, 1), $record !== null && $record->read($value) ? $value : null];
}

/** @return array<mixed> */
function bloom_cache_scan(int &$cursor, int $count = 100, string $prefix = ""): array
{
    if ($count < 1) {
        Arguments::refuse(__FUNCTION__, 2, 'count', 'must be greater than 0');
    }
    $values = [];
    foreach (Store::page($cursor, $count, $prefix) as $key => $record) {
        if ($record->read($value)) {
            $values[$key] = $value;
        }
    }
    return $values;
}

function bloom_cache_clear(string $prefix = ""): int
{
    return Store::clear($prefix);
}

function bloom_cache_dump(string $path): int
{
    Arguments::path(__FUNCTION__, 1, $path);
    Status::unavailable();
}

function bloom_cache_restore(string $path): int
{
    Arguments::path(__FUNCTION__, 1, $path);
    Status::unavailable();
}

/** @return array<string, int> */
function bloom_cache_info(): array
{
    return Store::info();
}

/** @return array{} */
function bloom_cache_classes(): array
{
    return [];
}

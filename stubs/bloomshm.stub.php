<?php

/**
 * @generate-class-entries
 */

namespace BloomShm {
    class Exception extends \RuntimeException
    {
        /**
         * @var int
         * @cvalue BLOOMSHM_CODE_UNAVAILABLE
         */
        public const UNAVAILABLE = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMSHM_CODE_NO_SPACE
         */
        public const NO_SPACE = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMSHM_CODE_FULL
         */
        public const FULL = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMSHM_CODE_EMPTY
         */
        public const EMPTY = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMSHM_CODE_EXISTS
         */
        public const EXISTS = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMSHM_CODE_NOT_FOUND
         */
        public const NOT_FOUND = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMSHM_CODE_INCOMPATIBLE
         */
        public const INCOMPATIBLE = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMSHM_CODE_ERROR_RATE
         */
        public const ERROR_RATE = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMSHM_CODE_CORRUPT
         */
        public const CORRUPT = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMSHM_CODE_RANGE
         */
        public const RANGE = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMSHM_CODE_READ_ONLY
         */
        public const READ_ONLY = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMSHM_CODE_TIMEOUT
         */
        public const TIMEOUT = UNKNOWN;
        /**
         * @var int
         * @cvalue BLOOMSHM_CODE_IO
         */
        public const IO = UNKNOWN;
    }
}

namespace {
    function bloom_reserve(
        string $filter,
        int $capacity,
        float $error_rate = 0.01,
        int $expansion = 2,
        int $window = 0,
        bool $counting = false,
        ?string $seed = null,
    ): bool {}

    function bloom_insert(
        string $filter,
        iterable $keys,
        int $capacity = 100,
        float $error_rate = 0.01,
        int $expansion = 2,
        bool $create = true,
    ): array {}

    function bloom_add(string $filter, string $key): bool {}

    function bloom_add_many(string $filter, iterable $keys): int {}

    function bloom_maybe_has(string $filter, string $key): bool {}

    function bloom_maybe_has_many(string $filter, array $keys): array {}

    function bloom_remove(string $filter, string $key): bool {}

    function bloom_count(string $filter, string $key): int {}

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
    ): array {}

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
    ): array {}

    function bloom_drop(string $filter): bool {}

    function bloom_clear(string $filter): bool {}

    function bloom_rename(string $from, string $to): bool {}

    function bloom_copy(string $from, string $to): bool {}

    function bloom_merge(string $into, string ...$from): bool {}

    function bloom_dump(string $filter, string $path): int {}

    function bloom_restore(string $filter, string $path): bool {}

    function bloom_ready(string $filter): bool {}

    function bloom_list(): array {}

    function bloom_info(string $filter): ?array {}

    function bloom_runs(string $filter): ?array {}

    function bloom_fills(string $filter): ?array {}

    function bloom_status(): array {}

    function bloom_verify(): array {}

    function bloom_fetch(string $filter, string $key, callable $load, int $ttl = 0): mixed {}

    function bloom_fetch_many(string $filter, array $keys, callable $load, int $ttl = 0): array {}

    function bloom_forget(string $filter, string $key): bool {}

    function bloom_cache_get(string $key, mixed $default = null): mixed {}

    function bloom_cache_get_many(array $keys, mixed $default = null): array {}

    function bloom_cache_set(string $key, mixed $value, int $ttl = 0): bool {}

    function bloom_cache_set_many(array $values, int $ttl = 0): int {}

    function bloom_cache_add(string $key, mixed $value, int $ttl = 0): bool {}

    function bloom_cache_replace(string $key, mixed $value, int $ttl = 0): bool {}

    function bloom_cache_has(string $key): bool {}

    function bloom_cache_delete(string $key): bool {}

    function bloom_cache_delete_many(array $keys): int {}

    function bloom_cache_increment(
        string $key,
        int $by = 1,
        int $initial = 0,
        int $ttl = 0,
        bool $create = true,
    ): int|false {}

    function bloom_cache_decrement(
        string $key,
        int $by = 1,
        int $initial = 0,
        int $ttl = 0,
        bool $create = true,
    ): int|false {}

    function bloom_cache_cas(string $key, mixed $expected, mixed $new, ?int $ttl = 0): bool {}

    function bloom_cache_append(string $key, string $suffix, string $delimiter = ""): int {}

    function bloom_cache_touch(string $key, int $ttl): bool {}

    function bloom_cache_remember(string $key, callable $load, int $ttl = 0): mixed {}

    function bloom_cache_remember_many(array $keys, callable $load, int $ttl = 0): array {}

    function bloom_cache_pop_oldest(): ?array {}

    function bloom_cache_scan(int &$cursor, int $count = 100, string $prefix = ""): array {}

    function bloom_cache_clear(string $prefix = ""): int {}

    function bloom_cache_dump(string $path): int {}

    function bloom_cache_restore(string $path): int {}

    function bloom_cache_info(): array {}

    function bloom_cache_classes(): array {}
}

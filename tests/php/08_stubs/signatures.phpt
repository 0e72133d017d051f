--TEST--
The functions have the names and signatures of the contract
--EXTENSIONS--
bloomshm
--FILE--
<?php
require __DIR__ . '/../helper.inc';

foreach ((new ReflectionExtension('bloomshm'))->getFunctions() as $function) {
    $parameters = array_map(function (ReflectionParameter $p) {
        return ($p->hasType() ? $p->getType() . ' ' : '') . ($p->isPassedByReference() ? '&' : '') . ($p->isVariadic() ? '...' : '')
            . '$' . $p->getName() . ($p->isDefaultValueAvailable() ? ' = ' . json_encode($p->getDefaultValue()) : '');
    }, $function->getParameters());
    echo $function->getName(), '(', implode(', ', $parameters), '): ', $function->getReturnType(), "\n";
}
?>
--EXPECTF--
bloom_reserve(string $filter, int $capacity, float $error_rate = 0.01, int $expansion = 2, int $window = 0, bool $counting = false, ?string $seed = null): bool
bloom_insert(string $filter, Traversable|array $keys, int $capacity = 100, float $error_rate = 0.01, int $expansion = 2, bool $create = true): array
bloom_add(string $filter, string $key): bool
bloom_add_many(string $filter, Traversable|array $keys): int
bloom_maybe_has(string $filter, string $key): bool
bloom_maybe_has_many(string $filter, array $keys): array
bloom_remove(string $filter, string $key): bool
bloom_count(string $filter, string $key): int
bloom_load(string $filter, Traversable|array $keys, float $error_rate = 0.01, ?int $capacity = null, ?float $max_error_rate = null, int $expansion = 2, bool $counting = false, ?string $seed = null, bool $allow_empty = false, bool $like = false): array
bloom_load_file(string $filter, string $path, float $error_rate = 0.01, ?int $capacity = null, ?float $max_error_rate = null, string $delimiter = "\n", int $expansion = 2, ?string $seed = null, bool $allow_empty = false, bool $like = false): array
bloom_drop(string $filter): bool
bloom_clear(string $filter): bool
bloom_rename(string $from, string $to): bool
bloom_copy(string $from, string $to): bool
bloom_merge(string $into, string ...$from): bool
bloom_dump(string $filter, string $path): int
bloom_restore(string $filter, string $path): bool
bloom_ready(string $filter): bool
bloom_list(): array
bloom_info(string $filter): ?array
bloom_runs(string $filter): ?array
bloom_fills(string $filter): ?array
bloom_status(): array
bloom_verify(): array
bloom_fetch(string $filter, string $key, callable $load, int $ttl = 0): mixed
bloom_fetch_many(string $filter, array $keys, callable $load, int $ttl = 0): array
bloom_forget(string $filter, string $key): bool
bloom_cache_get(string $key, mixed $default = null): mixed
bloom_cache_get_many(array $keys, mixed $default = null): array
bloom_cache_set(string $key, mixed $value, int $ttl = 0): bool
bloom_cache_set_many(array $values, int $ttl = 0): int
bloom_cache_add(string $key, mixed $value, int $ttl = 0): bool
bloom_cache_replace(string $key, mixed $value, int $ttl = 0): bool
bloom_cache_has(string $key): bool
bloom_cache_delete(string $key): bool
bloom_cache_delete_many(array $keys): int
bloom_cache_increment(string $key, int $by = 1, int $initial = 0, int $ttl = 0, bool $create = true): int|false
bloom_cache_decrement(string $key, int $by = 1, int $initial = 0, int $ttl = 0, bool $create = true): int|false
bloom_cache_cas(string $key, mixed $expected, mixed $new, ?int $ttl = 0): bool
bloom_cache_append(string $key, string $suffix, string $delimiter = ""): int
bloom_cache_touch(string $key, int $ttl): bool
bloom_cache_remember(string $key, callable $load, int $ttl = 0): mixed
bloom_cache_remember_many(array $keys, callable $load, int $ttl = 0): array
bloom_cache_pop_oldest(): ?array
bloom_cache_scan(%S&$cursor, int $count = 100, string $prefix = ""): array
bloom_cache_clear(string $prefix = ""): int
bloom_cache_dump(string $path): int
bloom_cache_restore(string $path): int
bloom_cache_info(): array
bloom_cache_classes(): array

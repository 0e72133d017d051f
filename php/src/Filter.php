<?php

declare(strict_types=1);

namespace BloomShm;

/**
 * One filter, by its name. Its methods are the functions of the extension: stubs/bloomshm.php of
 * the project documents them with all their errors.
 */
final readonly class Filter
{
    /**
     * @param string $name 1 to 63 bytes, none of them NUL; checked when the filter is used. The
     *     filter need not exist: it answers "maybe" until it does.
     */
    public function __construct(public string $name) {}

    /**
     * Is the key (maybe) in the filter? bloom_maybe_has().
     *
     * @return bool false is certain; true is wrong for a share of the absent keys.
     * @throws Exception NOT_FOUND, only with bloomshm.missing_filter = throw.
     */
    public function maybeHas(string $key): bool
    {
        return \bloom_maybe_has($this->name, $key);
    }

    /**
     * Many questions at once; several times faster than one by one. bloom_maybe_has_many().
     *
     * @param array<string|int|float|\Stringable> $keys
     * @return array<bool> Under the array keys of $keys, in their order.
     * @throws Exception As maybeHas().
     */
    public function maybeHasMany(array $keys): array
    {
        return \bloom_maybe_has_many($this->name, $keys);
    }

    /**
     * Adds a key, if the filter exists: write to the backend first, then add. bloom_add().
     *
     * @return bool true: the key was certainly not there before.
     * @throws Exception FULL, NO_SPACE, READ_ONLY, TIMEOUT, NOT_FOUND.
     */
    public function add(string $key): bool
    {
        return \bloom_add($this->name, $key);
    }

    /**
     * The stored record, else null if the filter says no, else what $load($key) returns, which is
     * stored. bloom_fetch().
     *
     * @param callable(string): mixed $load One process calls it; the others wait for its value.
     * @param int $ttl Seconds that the record lives; 0: no limit.
     * @throws Exception NOT_FOUND, INCOMPATIBLE. Exceptions of $load pass through.
     */
    public function fetch(string $key, callable $load, int $ttl = 0): mixed
    {
        return \bloom_fetch($this->name, $key, $load, $ttl);
    }

    /**
     * fetch() for all keys of a page, with at most one question to the backend. bloom_fetch_many().
     *
     * @param array<string|int|float|\Stringable> $keys
     * @param callable(list<string>): array<mixed> $load Gets the keys that are open, and returns
     *     their values by key. A key that it leaves out does not exist.
     * @param int $ttl Seconds that the records live; 0: no limit.
     * @return array<mixed> A value or null under each array key of $keys, in their order.
     * @throws Exception As fetch().
     */
    public function fetchMany(array $keys, callable $load, int $ttl = 0): array
    {
        return \bloom_fetch_many($this->name, $keys, $load, $ttl);
    }

    /**
     * Builds the filter anew from all keys, and publishes it in one step. bloom_load().
     *
     * @param iterable<mixed> $keys string, int, float, Stringable, or database rows whose first
     *     column is the key.
     * @param float $errorRate Share of absent keys that are answered "maybe"; above 0, at most 0.5.
     * @param int|null $capacity Room for at least so many keys. null: the size follows from them.
     * @param float|null $maxErrorRate The measured rate above which nothing is published. null:
     *     1.5 x $errorRate.
     * @param int $expansion 0: never grows. 2 to 32: grows when full, each layer so many times the
     *     size of the one before.
     * @param bool $counting Keys can be removed later.
     * @param string|null $seed 1 to 64 bytes, for filters that are to be merged. null: random.
     * @param bool $allowEmpty Publish a filter without keys, which says no to everything.
     * @param bool $like Keep seed, type, rate, and if it fits the size, of the filter that stands.
     * @return array<string, mixed> As info(), and `keys` (offered) and `seconds`.
     * @throws Exception EMPTY, ERROR_RATE, EXISTS, NO_SPACE, CORRUPT, READ_ONLY, TIMEOUT,
     *     UNAVAILABLE, INCOMPATIBLE; the published filter stays then.
     */
    public function load(
        iterable $keys,
        float $errorRate = 0.01,
        ?int $capacity = null,
        ?float $maxErrorRate = null,
        int $expansion = 2,
        bool $counting = false,
        ?string $seed = null,
        bool $allowEmpty = false,
        bool $like = false,
    ): array {
        return \bloom_load(
            $this->name,
            $keys,
            $errorRate,
            $capacity,
            $maxErrorRate,
            $expansion,
            $counting,
            $seed,
            $allowEmpty,
            $like,
        );
    }

    /**
     * Figures of the filter: type, capacity, items, error rates, bytes, questions and more.
     * bloom_info(). Reads every bit of the filter: about 0.1 s a GB.
     *
     * @return array<string, mixed>|null null: it is not published.
     */
    public function info(): ?array
    {
        return \bloom_info($this->name);
    }
}

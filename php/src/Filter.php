<?php

declare(strict_types=1);

namespace BloomShm;

/**
 * One filter, by its name.
 */
final class Filter
{
    public function __construct(public readonly string $name) {}

    /**
     * Whether the filter may hold the key; false is certain.
     */
    public function maybeHas(string $key): bool
    {
        return \bloom_maybe_has($this->name, $key);
    }
}

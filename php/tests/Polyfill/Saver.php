<?php

declare(strict_types=1);

namespace BloomShm\Tests\Polyfill;

/**
 * A class whose serialize() stores records.
 */
final readonly class Saver
{
    /** @param array<string, mixed> $records */
    public function __construct(private array $records) {}

    /** @return array{} */
    public function __serialize(): array
    {
        \bloom_cache_set_many($this->records);
        return [];
    }
}

<?php

declare(strict_types=1);

namespace BloomShm\Tests\WordPress;

/**
 * Stored as other bytes each time.
 */
final class Restless
{
    /** @return array<int> */
    public function __serialize(): array
    {
        return [random_int(0, PHP_INT_MAX)];
    }

    /** @param array<int> $data */
    public function __unserialize(array $data): void {}
}

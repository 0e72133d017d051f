<?php

declare(strict_types=1);

namespace BloomShm\Tests\Laravel;

final class Unreadable
{
    /**
     * @param array<mixed> $data
     */
    public function __unserialize(array $data): void
    {
        throw new \LogicException('not again');
    }
}

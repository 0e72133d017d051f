<?php

declare(strict_types=1);

namespace BloomShm\Tests\Cache\Fixture;

/**
 * A class whose stored objects can no longer be read.
 */
final class Changed
{
    public function __unserialize(array $data): void
    {
        throw new \LogicException('another release stored it');
    }
}

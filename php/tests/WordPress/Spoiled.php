<?php

declare(strict_types=1);

namespace BloomShm\Tests\WordPress;

/**
 * Stored like any object, but cannot be read again.
 */
final class Spoiled
{
    public int $number = 1;

    public function __wakeup(): void
    {
        throw new \LogicException('spoiled');
    }
}

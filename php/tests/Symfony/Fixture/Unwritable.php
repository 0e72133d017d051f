<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Fixture;

final class Unwritable
{
    public function __serialize(): array
    {
        throw new \TypeError('unwritable');
    }
}

<?php

declare(strict_types=1);

namespace Symfony\Component\Cache\Tests\Adapter;

/**
 * Symfony's tests of tags wait for up to 100 seconds of a mocked clock, which the store does not
 * have. What they wait for takes 150 milliseconds.
 */
function sleep(int $seconds): void
{
    \sleep(\min($seconds, 4));
}

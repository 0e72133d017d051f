<?php

declare(strict_types=1);

namespace BloomShm\Tests;

use PHPUnit\Framework\Assert;

/**
 * A page's call waits 50 ms for a lock. On a busy machine its holder may be without a processor for
 * longer, and the call gives false.
 */
final class Patience
{
    /**
     * Makes a call again while it gives false and the lock was not to be had for one.
     *
     * @template T
     * @param \Closure(): T $call
     * @return T
     */
    public static function with(\Closure $call): mixed
    {
        for ($tries = 0; $tries < 1000; $tries++) {
            $before = \bloom_cache_info()['lock_timeouts'];
            $answer = $call();
            if ($answer !== false || \bloom_cache_info()['lock_timeouts'] === $before) {
                return $answer;
            }
        }
        Assert::fail('the lock is never to be had');
    }
}

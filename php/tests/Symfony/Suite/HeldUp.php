<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Suite;

use PHPUnit\Framework\AssertionFailedError;

/**
 * For Symfony's tests that measure time to a tenth of a second.
 */
trait HeldUp
{
    /**
     * Makes a test again that failed and took longer than so many seconds: a machine that is busy
     * with other work holds it up, but not each time.
     */
    private static function again(float $seconds, \Closure $test): void
    {
        for ($tries = 0;; $tries++) {
            $began = \hrtime(true);
            try {
                $test();
                return;
            } catch (AssertionFailedError $failure) {
                if ($tries === 20 || \hrtime(true) - $began < $seconds * 1e9) {
                    throw $failure;
                }
            }
        }
    }
}

<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony\Suite;

/**
 * The tests of any adapter that measure time.
 */
trait HeldUpAdapter
{
    use HeldUp;

    public function testGetMetadata()
    {
        self::again(1.1, function (): void {
            parent::testGetMetadata();
        });
    }

    public function testDefaultLifeTime()
    {
        self::again(3.2, function (): void {
            parent::testDefaultLifeTime();
        });
    }
}

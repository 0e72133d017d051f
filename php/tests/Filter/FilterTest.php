<?php

declare(strict_types=1);

namespace BloomShm\Tests\Filter;

use BloomShm\Filter;
use PHPUnit\Framework\Attributes\Group;
use PHPUnit\Framework\TestCase;

final class FilterTest extends TestCase
{
    #[Group('disabled')]
    public function testFilterThatIsMissingSaysMaybe(): void
    {
        self::assertTrue((new Filter('no such filter'))->maybeHas('a key'));
    }
}

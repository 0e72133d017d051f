<?php

declare(strict_types=1);

namespace Symfony\Component\Clock;

/**
 * Stands in for the interface of symfony/clock, which Carbon's factory implements.
 */
interface ClockInterface extends \Psr\Clock\ClockInterface
{
    public function sleep(float|int $seconds): void;

    public function withTimeZone(\DateTimeZone|string $timezone): static;
}

<?php

declare(strict_types=1);

/*
 * statistics.php - the middle and the ends of a list of measurements.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

final readonly class Spread
{
    public function __construct(public float $low, public float $median, public float $high)
    {
    }

    /** @param non-empty-list<float> $values */
    public static function of(array $values): self
    {
        return new self(min($values), median($values), max($values));
    }
}

/** @param non-empty-list<float> $values */
function median(array $values): float
{
    sort($values);
    $half = intdiv(count($values), 2);
    return count($values) % 2 === 1 ? $values[$half] : ($values[$half - 1] + $values[$half]) / 2;
}

<?php

declare(strict_types=1);

/*
 * figures.php - what the sections measured, by name, one value a round.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

final class Figures
{
    /** @var array<string, non-empty-list<float>> */
    private array $values = [];

    /** @param array<string, float|int> $figures */
    public function add(string $section, array $figures): void
    {
        foreach ($figures as $name => $value) {
            $this->values["$section/$name"][] = (float) $value;
        }
    }

    public function has(string $name): bool
    {
        return isset($this->values[$name]);
    }

    /** @return non-empty-list<float> */
    public function of(string $name): array
    {
        return $this->values[$name];
    }

    /** @return array<string, non-empty-list<float>> */
    public function all(): array
    {
        return $this->values;
    }
}

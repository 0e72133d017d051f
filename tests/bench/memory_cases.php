<?php

declare(strict_types=1);

/*
 * memory_cases.php - the filters whose size and real false-positive rate are checked.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

final readonly class MemoryCase
{
    /**
     * @param string $keys which key file, "1M"
     * @param string $percent the rate asked for
     * @param float $bits the goal, bits a key
     * @param int $probes absent keys asked; 10,000 false positives make the chance error 1 %
     */
    public function __construct(
        public string $keys,
        public string $percent,
        public float $bits,
        public int $probes,
    ) {
    }

    public function errorRate(): float
    {
        return (float) $this->percent / 100;
    }

    public function name(): string
    {
        return "memory_{$this->keys}_{$this->percent}";
    }
}

/** @return list<MemoryCase> */
function memory_cases(bool $quick): array
{
    $cases = [];
    foreach ($quick ? ['1M'] : ['1M', '10M'] as $keys) {
        $cases[] = new MemoryCase($keys, '1', 10.3, 10_000_000);
        $cases[] = new MemoryCase($keys, '0.1', 15.2, 10_000_000);
        $cases[] = new MemoryCase($keys, '0.01', 20.4, 100_000_000);
    }
    return $cases;
}

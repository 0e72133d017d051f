<?php

declare(strict_types=1);

/*
 * clock.php - what one PHP call costs: a loop around it, less the same loop with nothing in it.
 *
 * Every pass measures every loop once, so that a slow moment of the machine falls on all of
 * them alike; each loop runs once unmeasured right before, so that none pays for the caches
 * its neighbour used.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

final readonly class Loop
{
    /**
     * @param \Closure(array<mixed>): void $run walks over the input and makes one call an element
     * @param array<mixed> $input
     * @param int $keys how many keys one walk asks about
     */
    public function __construct(public \Closure $run, public array $input, public int $keys)
    {
    }
}

/**
 * @param array<string, Loop> $loops
 * @return array<string, float> nanoseconds a key, net of the empty loop; median of the passes
 */
function nanoseconds_per_key(array $loops, int $passes): array
{
    $taken = [];
    for ($pass = 0; $pass < $passes; $pass++) {
        foreach ($loops as $name => $loop) {
            ($loop->run)($loop->input);
            $net = nanoseconds($loop->run, $loop->input) - nanoseconds(walk(...), $loop->input);
            $taken[$name][] = $net / $loop->keys;
        }
    }
    return array_map(median(...), $taken);
}

/** @param array<mixed> $input */
function nanoseconds(\Closure $run, array $input): int
{
    $start = hrtime(true);
    $run($input);
    return hrtime(true) - $start;
}

/**
 * The empty loop.
 *
 * @param array<mixed> $input
 */
function walk(array $input): void
{
    foreach ($input as $element) {
    }
}

<?php

declare(strict_types=1);

/*
 * clock.php - what one PHP call costs: a loop around it, less the same loop with nothing in it.
 *
 * Every pass measures every loop once, so that a slow moment of the machine falls on all of
 * them alike; each loop runs once unmeasured right before, so that none pays for the caches
 * its neighbour used. What counts is the process's own time on the processor, so that other work
 * of a busy machine is not taken for the call's; where a call waits for a peer, the clock counts.
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
     * @param bool $waits whether a call waits for another process
     */
    public function __construct(
        public \Closure $run,
        public array $input,
        public int $keys,
        public bool $waits = false,
    ) {
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
            $time = $loop->waits ? clock(...) : processor_time(...);
            $net = nanoseconds($loop->run, $loop->input, $time)
                - nanoseconds(walk(...), $loop->input, $time);
            $taken[$name][] = $net / $loop->keys;
        }
    }
    return array_map(median(...), $taken);
}

/**
 * @param array<mixed> $input
 * @param \Closure(): int $time
 */
function nanoseconds(\Closure $run, array $input, \Closure $time): int
{
    $start = $time();
    $run($input);
    return $time() - $start;
}

function clock(): int
{
    return hrtime(true);
}

/** What this process has had of the processor, in nanoseconds; exact to a microsecond. */
function processor_time(): int
{
    $used = getrusage();
    return 1000 * (1_000_000 * ($used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec'])
        + $used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec']);
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

<?php

declare(strict_types=1);

/*
 * The time of a get through each adapter, and through its sibling on APCu, in one process: rounds
 * of both in turns. Prints the medians, and exits with 1 if an adapter takes longer than its
 * sibling.
 *
 *   script/test-library bench
 *
 * The file bench.php of an area returns a function: it gets values by key, stores them in both
 * caches, and returns pairs: name => [get, the sibling's get], each a function of the key.
 */

require __DIR__ . '/bootstrap.php';

const ROUNDS = 101;
const GETS = 2000;

/** Nanoseconds of a get. */
function timed(Closure $get, string $key): float
{
    $start = hrtime(true);
    for ($i = 0; $i < GETS; $i++) {
        $get($key);
    }
    return (hrtime(true) - $start) / GETS;
}

/** @param list<float> $times */
function median(array $times): float
{
    sort($times);
    return $times[intdiv(count($times), 2)];
}

$values = [
    'string' => str_repeat('x', 100),
    'array' => ['id' => 1, 'tags' => range(1, 16), 'name' => 'bloom', 'ok' => true],
    'absent' => null,
];
$slower = 0;
printf("%-44s %-7s %8s %8s %6s\n", 'a get, nanoseconds', 'value', 'bloomshm', 'APCu', 'ratio');
// WordPress before Laravel, which defines a function only if there is none of that name.
foreach (array_reverse(glob(__DIR__ . '/*/bench.php') ?: []) as $file) {
    foreach ((require $file)(array_filter($values)) as $name => [$ours, $theirs]) {
        foreach ($values as $key => $value) {
            $times = [[], []];
            if ($ours($key) !== $value || $theirs($key) !== $value) {
                throw new RuntimeException("$name: $key is not what was stored");
            }
            for ($round = 0; $round < ROUNDS; $round++) {
                foreach ($round % 2 === 0 ? [0, 1] : [1, 0] as $which) {
                    $times[$which][] = timed($which === 0 ? $ours : $theirs, $key);
                }
            }
            [$mine, $other] = array_map(median(...), $times);
            $slower += (int) ($mine > $other);
            printf("%-44s %-7s %8.0f %8.0f %6.2f\n", $name, $key, $mine, $other, $mine / $other);
        }
    }
}
printf("\n%s\n", $slower === 0 ? 'no get is slower than its sibling' : "$slower gets are slower");
exit((int) ($slower > 0));

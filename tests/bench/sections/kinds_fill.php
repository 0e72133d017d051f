<?php

declare(strict_types=1);

/*
 * kinds_fill.php - KEYS: a filter of each kind, for kinds_ask.php.
 *
 * One that has grown to KEYS keys; fixed ones of as many keys, and of as much memory; a sliding
 * one, and a fixed one that takes the same memory and is full; a counting one.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

const CHUNK = 100_000;

function fill(string $filter, int $keys): void
{
    for ($first = 0; $first < $keys; $first += CHUNK) {
        \bloom_add_many($filter, present_keys(min(CHUNK, $keys - $first), $first));
    }
}

$keys = (int) $argv[1];
$some = intdiv($keys, 10);
\bloom_reserve('grown', 100);
\bloom_reserve('single', $keys, expansion: 0);
// All come in one of the three epochs of a window.
\bloom_reserve('sliding', 3 * $some, window: 86400);
\bloom_reserve('counting', $some, counting: true);
fill('grown', $keys);
fill('single', $keys);
fill('sliding', $some);
fill('counting', $some);
// As many partitions as the others have, but for one or two; the one beside the sliding filter is
// filled as far as 1 % allows.
$a_partition = \bloom_info('single')['capacity'] / \bloom_info('single')['partitions'];
$like = (int) (\bloom_info('sliding')['partitions'] * $a_partition);
\bloom_reserve('plain', $like, expansion: 0);
fill('plain', $like);
\bloom_reserve('as_large', (int) (\bloom_info('grown')['partitions'] * $a_partition), expansion: 0);
fill('as_large', $keys);
foreach (['plain' => 'sliding', 'as_large' => 'grown'] as $filter => $other) {
    $ratio = \bloom_info($filter)['bytes'] / \bloom_info($other)['bytes'];
    must(abs($ratio - 1) < 0.001, "$filter has $ratio times the size of $other");
}
report(['grown_layers' => count(\bloom_info('grown')['layers'])]);

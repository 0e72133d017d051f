<?php

declare(strict_types=1);

/*
 * kinds_fill.php - KEYS: a filter of each kind, for kinds_ask.php.
 *
 * One that has grown to KEYS keys and a fixed one of as many; a sliding one, and a fixed one that takes
 * the same memory and is full; a counting one.
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
\bloom_reserve('sliding', 3 * $some, window: 86400); // all come in one of the three epochs of a window
\bloom_reserve('counting', $some, counting: true);
fill('grown', $keys);
fill('single', $keys);
fill('sliding', $some);
fill('counting', $some);
// As many partitions as the sliding one has, filled as far as 1 % allows.
$like = (int) (\bloom_info('sliding')['partitions'] * \bloom_info('single')['capacity'] / \bloom_info('single')['partitions']);
\bloom_reserve('plain', $like, expansion: 0);
fill('plain', $like);
must(\bloom_info('plain')['bytes'] === \bloom_info('sliding')['bytes'], 'the plain filter has another size');
report(['grown_layers' => count(\bloom_info('grown')['layers'])]);

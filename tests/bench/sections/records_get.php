<?php

declare(strict_types=1);

/*
 * records_get.php - 100,000 small records fetched in order and shuffled, from a store of any size:
 * memory that a store does not use should cost nothing.
 *
 * A processor takes a load for one of what it stored just before if the two addresses agree in
 * their low 12 bits, and waits. A get stores a count, and PHP then loads the next instruction of
 * its own. If they agree, a get of 60 ns takes 75: in each run, as PHP's instructions lie at the
 * same offsets every time. So the loop is compiled several times, to lie at several places.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

const KEYS = 100_000;
const COPIES = 7;
const PASSES = 3; // of each copy

fresh_segment();
$keys = present_keys(KEYS);
$values = array_fill_keys($keys, '8 bytes.');
must(\bloom_cache_set_many($values) === KEYS, 'bloomshm could not store all keys');
must(\bloom_cache_get_many($keys) === $values, 'bloomshm lost keys');

$shuffled = shuffled($keys);
$taken = [];
$copies = [];
for ($i = 0; $i < COPIES; $i++) {
    $get = $copies[] = require __DIR__ . '/../get_loop.php';
    $figures = nanoseconds_per_key([
        'in_order' => new Loop($get, $keys, KEYS),
        'shuffled' => new Loop($get, $shuffled, KEYS),
    ], PASSES);
    foreach ($figures as $name => $figure) {
        $taken[$name][] = $figure;
    }
}
report(array_map(median(...), $taken));

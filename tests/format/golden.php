<?php

/*
 * Makes one filter of each kind from fixed keys and a fixed seed, and dumps it to
 * DIRECTORY/KIND.bloom:
 *
 *   php -d extension=... tests/format/golden.php DIRECTORY
 *
 * tests/data holds what this wrote when the format was fixed. A new version of the format adds
 * files; it does not change these.
 */

declare(strict_types=1);

$keys = array_map(fn (int $i): string => "key $i", range(0, 4999));

bloom_reserve('fixed', 5000, 0.01, 0, seed: 'golden');
bloom_reserve('growing', 100, 0.01, 2, seed: 'golden');
bloom_reserve('sliding', 3000, 0.01, window: 315_360_000, seed: 'golden');
bloom_reserve('counting', 1600, 0.01, counting: true, seed: 'golden');
bloom_add_many('fixed', $keys);
bloom_add_many('growing', $keys);
bloom_add_many('sliding', array_slice($keys, 0, 3000));
for ($times = 0; $times < 3; $times++) {
    bloom_add_many('counting', array_slice($keys, 0, 1500 - 500 * $times)); // 3, 2 and 1 time
}
// For deltas: what became of the first two.
$keys = array_map(fn (int $i): string => "key $i", range(0, 13999));
bloom_reserve('fixed-later', 5000, 0.01, 0, seed: 'golden');
bloom_reserve('growing-later', 100, 0.01, 2, seed: 'golden');
bloom_add_many('fixed-later', array_slice($keys, 100, 5000));
bloom_add_many('growing-later', $keys);
foreach (['fixed', 'growing', 'sliding', 'counting', 'fixed-later', 'growing-later'] as $kind) {
    bloom_dump($kind, "$argv[1]/$kind.bloom");
}

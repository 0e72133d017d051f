<?php

declare(strict_types=1);

/*
 * ask_shuffled.php - one question, 200,000 keys in shuffled order, all of them present: keys
 * that lie in memory as they are asked, and keys that are scattered themselves, where every
 * question also waits for its key.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

const KEYS = 200_000;

$keys = present_keys(KEYS);

\bloom_load('articles', $keys);
must(array_sum(\bloom_maybe_has_many('articles', $keys)) === KEYS, 'bloomshm lost keys');
must(\apcu_store(array_fill_keys($keys, 1)) === [], 'APCu could not store all keys');

$maybe_has = static function (array $keys): void {
    foreach ($keys as $key) {
        \bloom_maybe_has('articles', $key);
    }
};
$apcu_exists = static function (array $keys): void {
    foreach ($keys as $key) {
        \apcu_exists($key);
    }
};

$asked = shuffled($keys);
$scattered = shuffled($keys, scattered: true);
report(nanoseconds_per_key([
    'bloom_maybe_has' => new Loop($maybe_has, $asked, KEYS),
    'apcu_exists' => new Loop($apcu_exists, $asked, KEYS),
    'bloom_maybe_has_scattered' => new Loop($maybe_has, $scattered, KEYS),
    'apcu_exists_scattered' => new Loop($apcu_exists, $scattered, KEYS),
], passes: 11));

<?php

declare(strict_types=1);

/*
 * two_processes.php - how much more two processes get done than one, when both ask at once.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';
require __DIR__ . '/../processes.php';

const KEYS = 100_000;

$keys = present_keys(KEYS);
\bloom_load('articles', $keys);
must(\apcu_store(array_fill_keys($keys, 1)) === [], 'APCu could not store all keys');

$loops = [
    'bloom_maybe_has' => static function (array $keys): void {
        foreach ($keys as $key) {
            \bloom_maybe_has('articles', $key);
        }
    },
    'apcu_exists' => static function (array $keys): void {
        foreach ($keys as $key) {
            \apcu_exists($key);
        }
    },
];

$figures = [];
foreach ($loops as $name => $loop) {
    $figures["{$name}_one"] = keys_per_second($loop, $keys, processes: 1);
    $figures["{$name}_two"] = keys_per_second($loop, $keys, processes: 2);
}
report($figures);

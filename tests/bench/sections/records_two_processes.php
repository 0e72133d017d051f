<?php

declare(strict_types=1);

/*
 * records_two_processes.php - how much more two processes fetch than one, when both read the
 * same few keys at once.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';
require __DIR__ . '/../processes.php';

const HOT_KEYS = 1_000;
const WALKS = 100;

fresh_segment();
$keys = present_keys(HOT_KEYS);
$values = array_fill_keys($keys, '8 bytes.');
must(\bloom_cache_set_many($values) === HOT_KEYS, 'bloomshm could not store all keys');
must(\apcu_store($values) === [], 'APCu could not store all keys');

$loops = [
    'bloom_cache_get' => static function (array $keys): void {
        foreach ($keys as $key) {
            \bloom_cache_get($key);
        }
    },
    'apcu_fetch' => static function (array $keys): void {
        foreach ($keys as $key) {
            \apcu_fetch($key);
        }
    },
];

$asked = array_merge(...array_fill(0, WALKS, $keys));
$figures = [];
foreach ($loops as $name => $loop) {
    $figures["{$name}_one"] = keys_per_second($loop, $asked, processes: 1);
    $figures["{$name}_two"] = keys_per_second($loop, $asked, processes: 2);
}
must(\bloom_cache_get_many($keys) === $values, 'bloomshm lost keys');
report($figures);

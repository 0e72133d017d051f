<?php

declare(strict_types=1);

/*
 * records_get.php - 100,000 small records fetched in order and shuffled, from a store of any size:
 * memory that a store does not use should cost nothing.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

const KEYS = 100_000;

fresh_segment();
$keys = present_keys(KEYS);
$values = array_fill_keys($keys, '8 bytes.');
must(\bloom_cache_set_many($values) === KEYS, 'bloomshm could not store all keys');
must(\bloom_cache_get_many($keys) === $values, 'bloomshm lost keys');

$get = static function (array $keys): void {
    foreach ($keys as $key) {
        \bloom_cache_get($key);
    }
};
report(nanoseconds_per_key([
    'in_order' => new Loop($get, $keys, KEYS),
    'shuffled' => new Loop($get, shuffled($keys), KEYS),
], passes: 11));

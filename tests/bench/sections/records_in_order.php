<?php

declare(strict_types=1);

/*
 * records_in_order.php - values fetched in order: small ones of 100,000 keys, small ones of
 * the few keys that a page asks for again and again, and strings of 8 kB.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

const KEYS = 100_000;
const HOT_KEYS = 1_000;
const VALUE = '8 bytes.';
const LONG_KEYS = 16; // 128 kB, no more than a processor's second cache holds
const LONG_BYTES = 8_192;

fresh_segment();
$keys = present_keys(KEYS);
$hot_keys = array_merge(...array_fill(0, intdiv(KEYS, HOT_KEYS), array_slice($keys, 0, HOT_KEYS)));
$long_keys = present_keys(LONG_KEYS, KEYS);
$asked_long = array_merge(...array_fill(0, intdiv(KEYS, LONG_KEYS), $long_keys));
$values = array_fill_keys($keys, VALUE) + array_fill_keys($long_keys, random_bytes(LONG_BYTES));

must(\bloom_cache_set_many($values) === count($values), 'bloomshm could not store all keys');
must(\bloom_cache_get_many(array_keys($values)) === $values, 'bloomshm lost keys');
must(\apcu_store($values) === [], 'APCu could not store all keys');

$get = static function (array $keys): void {
    foreach ($keys as $key) {
        \bloom_cache_get($key);
    }
};
$fetch = static function (array $keys): void {
    foreach ($keys as $key) {
        \apcu_fetch($key);
    }
};
report(nanoseconds_per_key([
    'bloom_cache_get' => new Loop($get, $keys, KEYS),
    'apcu_fetch' => new Loop($fetch, $keys, KEYS),
    'hot_bloom_cache_get' => new Loop($get, $hot_keys, KEYS),
    'hot_apcu_fetch' => new Loop($fetch, $hot_keys, KEYS),
    'long_bloom_cache_get' => new Loop($get, $asked_long, count($asked_long)),
    'long_apcu_fetch' => new Loop($fetch, $asked_long, count($asked_long)),
], passes: 11));

<?php

declare(strict_types=1);

/*
 * records_shuffled.php - small values fetched and stored, 200,000 keys in shuffled order, all
 * of them present, so that a store replaces a value of the same size. Yac is asked if it is there.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

const KEYS = 200_000;
const VALUE = '8 bytes.';
const BATCH = 1_000;

fresh_segment();
$keys = present_keys(KEYS);
$values = array_fill_keys($keys, VALUE);

must(\bloom_cache_set_many($values) === KEYS, 'bloomshm could not store all keys');
must(\bloom_cache_get_many($keys) === $values, 'bloomshm lost keys');
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
    'bloom_cache_set' => static function (array $keys): void {
        foreach ($keys as $key) {
            \bloom_cache_set($key, VALUE);
        }
    },
    'apcu_store' => static function (array $keys): void {
        foreach ($keys as $key) {
            \apcu_store($key, VALUE);
        }
    },
];
$list_loops = [
    'bloom_cache_set_many' => static function (array $lists): void {
        foreach ($lists as $values) {
            \bloom_cache_set_many($values);
        }
    },
    'apcu_store_many' => static function (array $lists): void {
        foreach ($lists as $values) {
            \apcu_store($values);
        }
    },
];
if (extension_loaded('yac')) {
    $yac = new \Yac();
    $yac->set($values);
    must(count(array_keys($yac->get($keys), VALUE, true)) > 0.99 * KEYS, 'Yac lost keys');
    $loops['yac_get'] = static function (array $keys) use ($yac): void {
        foreach ($keys as $key) {
            $yac->get($key);
        }
    };
    $loops['yac_set'] = static function (array $keys) use ($yac): void {
        foreach ($keys as $key) {
            $yac->set($key, VALUE);
        }
    };
}

$asked = shuffled($keys);
$lists = array_chunk(array_fill_keys($asked, VALUE), BATCH, preserve_keys: true);
$loop = static fn (\Closure $run): Loop => new Loop($run, $asked, KEYS);
$list_loop = static fn (\Closure $run): Loop => new Loop($run, $lists, KEYS);
$figures = nanoseconds_per_key(
    array_map($loop, $loops) + array_map($list_loop, $list_loops),
    passes: 5,
);
must(\bloom_cache_get_many($keys) === $values, 'bloomshm lost keys meanwhile');
report($figures);

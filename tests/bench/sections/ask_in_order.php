<?php

declare(strict_types=1);

/*
 * ask_in_order.php - one question, asked of the product and of the peers that share memory:
 * 100,000 keys in order. Yac is asked if it is there.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';
require __DIR__ . '/../pixiv.php';

const KEYS = 100_000;
const KEYS_A_CALL = 20;
const HOT_KEYS = 1_000;

$keys = present_keys(KEYS);
$absent = absent_keys(KEYS);
$calls = array_chunk($keys, KEYS_A_CALL);
// What a page does: few keys, in the processor's cache. The same ones, asked for singly and 20 a
// call.
$hot = array_slice($keys, 0, HOT_KEYS);
$hot_keys = array_merge(...array_fill(0, intdiv(KEYS, HOT_KEYS), $hot));
$hot_calls = array_merge(...array_fill(0, intdiv(KEYS, HOT_KEYS), array_chunk($hot, KEYS_A_CALL)));

\bloom_load('articles', $keys);
must(array_sum(\bloom_maybe_has_many('articles', $keys)) === KEYS, 'bloomshm lost keys');
must(
    array_sum(\bloom_maybe_has_many('articles', $absent)) < KEYS / 50, 'bloomshm says maybe to all',
);

must(\apcu_store(array_fill_keys($keys, 1)) === [], 'APCu could not store all keys');
$partitions = pixiv_load($keys);
foreach ($keys as $key) {
    must(pixiv_maybe_has($key, $partitions), "the partitions in APCu have lost $key");
}

// Looks for eight bytes in twelve.
$str_contains = static function (array $keys): void {
    foreach ($keys as $key) {
        \str_contains($key, 'articles');
    }
};
// The same two strings the other way round: nothing to look for, the floor of any call.
$floor = static function (array $keys): void {
    foreach ($keys as $key) {
        \str_contains('articles', $key);
    }
};
$maybe_has = static function (array $keys): void {
    foreach ($keys as $key) {
        \bloom_maybe_has('articles', $key);
    }
};
$maybe_has_many = static function (array $calls): void {
    foreach ($calls as $keys) {
        \bloom_maybe_has_many('articles', $keys);
    }
};
$apcu_exists = static function (array $keys): void {
    foreach ($keys as $key) {
        \apcu_exists($key);
    }
};
$pixiv = static function (array $keys) use ($partitions): void {
    foreach ($keys as $key) {
        pixiv_maybe_has($key, $partitions);
    }
};
$loops = [
    'str_contains' => new Loop($str_contains, $keys, KEYS),
    'floor' => new Loop($floor, $keys, KEYS),
    'bloom_maybe_has' => new Loop($maybe_has, $keys, KEYS),
    'bloom_maybe_has_absent' => new Loop($maybe_has, $absent, KEYS),
    'bloom_maybe_has_many' => new Loop($maybe_has_many, $calls, KEYS),
    'hot_bloom_maybe_has' => new Loop($maybe_has, $hot_keys, KEYS),
    'hot_bloom_maybe_has_many' => new Loop($maybe_has_many, $hot_calls, KEYS),
    'apcu_exists' => new Loop($apcu_exists, $keys, KEYS),
    'pixiv' => new Loop($pixiv, $keys, KEYS),
];
if (extension_loaded('yac')) {
    $yac = new \Yac();
    foreach ($keys as $key) {
        $yac->set($key, 1);
    }
    must($yac->get($keys[0]) === 1, 'Yac lost its first key');
    $yac_get = static function (array $keys) use ($yac): void {
        foreach ($keys as $key) {
            $yac->get($key);
        }
    };
    $loops['yac_get'] = new Loop($yac_get, $keys, KEYS);
}
report(nanoseconds_per_key($loops, passes: 11));

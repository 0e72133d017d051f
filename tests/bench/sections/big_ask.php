<?php

declare(strict_types=1);

/*
 * big_ask.php KEYS - questions to a filter that no cache holds. The unmeasured first walk
 * brings the pages into this process, so that no page fault is measured.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

const KEYS_A_CALL = 20;

$count = (int) $argv[1];
$keys = present_keys($count);
must(array_sum(\bloom_maybe_has_many('big', $keys)) === $count, 'the big filter lost keys');

$maybe_has = static function (array $keys): void {
    foreach ($keys as $key) {
        \bloom_maybe_has('big', $key);
    }
};
$maybe_has_many = static function (array $calls): void {
    foreach ($calls as $keys) {
        \bloom_maybe_has_many('big', $keys);
    }
};

report(nanoseconds_per_key([
    'bloom_maybe_has' => new Loop($maybe_has, $keys, $count),
    'bloom_maybe_has_many' => new Loop($maybe_has_many, array_chunk($keys, KEYS_A_CALL), $count),
], passes: 3));

<?php

declare(strict_types=1);

/*
 * kinds_ask.php - KEYS: what a question costs, kind by kind: absent keys, and for some present
 * ones.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

const KEYS_A_CALL = 20;

$count = (int) $argv[1];
$absent = shuffled(absent_keys($count));
$present = shuffled(present_keys($count));
$calls = array_chunk($absent, KEYS_A_CALL);
$loops = [];
foreach (['single', 'grown', 'as_large', 'plain', 'sliding', 'counting'] as $filter) {
    must(array_sum(\bloom_maybe_has_many($filter, $present)) === $count, "$filter has lost keys");
    must(
        array_sum(\bloom_maybe_has_many($filter, $absent)) < $count / 20,
        "$filter says maybe to all",
    );
    $one = static function (array $keys) use ($filter): void {
        foreach ($keys as $key) {
            \bloom_maybe_has($filter, $key);
        }
    };
    $many = static function (array $calls) use ($filter): void {
        foreach ($calls as $keys) {
            \bloom_maybe_has_many($filter, $keys);
        }
    };
    $loops["{$filter}_absent"] = new Loop($one, $absent, $count);
    $loops["{$filter}_present"] = new Loop($one, $present, $count);
    $loops["{$filter}_many"] = new Loop($many, $calls, $count);
}
report(nanoseconds_per_key($loops, passes: 11));

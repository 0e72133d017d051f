<?php

/*
 * A process in a container of tests/host/run.sh: works on the segment until the file STOP is there,
 * then says what it did.
 *
 *     container.php NAME STOP
 */

declare(strict_types=1);

require __DIR__ . '/../php/helper.inc';

const KEYS = 20_000; // of each, at most: a dozen of them fill no filter

[, $name, $stop] = $argv;
$wrong = $i = 0;
for (; !file_exists($stop); $i++) {
    // All work on one filter and one counter; each has keys of its own, whose values are known.
    $key = $name . ' ' . $i % KEYS;
    $wrong += (int) !(bloom_add('shared', $key) || bloom_maybe_has('shared', $key));
    $wrong += (int) !bloom_maybe_has('shared', "$name " . intdiv($i, 2) % KEYS);
    patiently(fn () => bloom_cache_increment('together'));
    patiently(fn () => bloom_cache_increment("counted by $name"));
    patiently(fn () => bloom_cache_set("$name " . $i % 20, str_repeat("$name $i ", 1 + $i % 300)));
    $wrong += (int) (bloom_cache_get("$name " . $i % 20) !== str_repeat("$name $i ", 1 + $i % 300));
    do {
        $old = bloom_cache_get('swapped');
    } while (!bloom_cache_cas('swapped', $old, $old === null ? 1 : $old + 1));
    patiently(fn () => bloom_cache_increment("swapped by $name"));
    if ($i % 20 === 0) {
        patiently(
            fn () => bloom_load("of $name", [...array_map(fn (int $k) => "$i $k", range(0, 200))]),
        );
        $wrong += (int) !bloom_maybe_has("of $name", "$i 100");
    }
}
for ($k = 0; $k < min($i, KEYS); $k++) {
    $wrong += (int) !bloom_maybe_has('shared', "$name $k");
}
echo json_encode(['pid' => getmypid(), 'rounds' => $i, 'wrong' => $wrong]), "\n";

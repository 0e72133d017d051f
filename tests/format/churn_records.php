<?php

/*
 * Changes the record store at bloomshm.path at random, with more than it can hold, and writes the
 * records that are there in the end, as bloom_cache_scan() shows them, to a file:
 * compare_records.php.
 *
 *   churn_records.php FILE KEYS CHANGES
 */

declare(strict_types=1);

mt_srand(1);
[, $file, $keys, $changes] = $argv;
$bytes = random_bytes(200_000);
for ($i = 0; $i < (int) $changes; $i++) {
    $key = 'key ' . mt_rand(1, (int) $keys);
    match (mt_rand(0, 9)) {
        0 => bloom_cache_delete($key),
        1 => bloom_cache_touch($key, mt_rand(0, 1) * 10_000),
        2 => bloom_cache_get($key),
        3 => bloom_cache_set(
            $key,
            substr($bytes, mt_rand(0, 999), mt_rand(1, mt_rand(0, 199) === 0 ? 150_000 : 9000)),
        ),
        4, 5 => bloom_cache_set($key, substr($bytes, mt_rand(0, 999), mt_rand(0, 900)), 1000),
        default => bloom_cache_set($key, mt_rand()),
    };
}
$out = fopen($file, 'w');
$shown = 0;
$cursor = 0;
do {
    foreach (bloom_cache_scan($cursor) as $key => $value) {
        fwrite($out, json_encode([
            'space' => 0,
            'key' => bin2hex($key),
            'value' => bin2hex(serialize($value)),
            'least' => 0,
            'most' => PHP_INT_MAX,
        ]) . "\n");
        $shown++;
    }
} while ($cursor !== 0);
if ($shown !== bloom_cache_info()['records'] || bloom_cache_info()['evictions'] === 0) {
    throw new Exception("$shown records were shown");
}

<?php

declare(strict_types=1);

/*
 * growth.php - KEYS: a filter that grows from a capacity of 100: what it takes at each doubling.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';
require __DIR__ . '/../peer_growth.php';

const CHUNK = 10_000;

$most = (int) $argv[1];
\bloom_reserve('growth', GROWN_FROM, GROWN_RATE);
$figures = ['most_bytes' => 0, 'most_rate' => 0.0, 'full_bits_a_key' => 0.0];
$keys = 0;
foreach (growth_sizes($most) as $until) {
    for (; $keys < $until; $keys += $count) {
        $count = min(CHUNK, $until - $keys);
        $layers = \bloom_info('growth')['layers'];
        \bloom_add_many('growth', present_keys($count, $keys));
        // The full filter had so many bits a key.
        if (count(\bloom_info('growth')['layers']) > count($layers)) {
            $bits = 8 * array_sum(array_column($layers, 'bytes'));
            $figures['full_bits_a_key'] = $bits / ($keys + $count);
            $figures['full_bytes'] = array_sum(array_column($layers, 'bytes'));
        }
    }
    $info = \bloom_info('growth');
    must($info['items'] > 0.98 * $keys, 'bloomshm lost keys');
    $figures["bytes_$keys"] = $info['bytes'];
    $figures["rate_$keys"] = $info['estimated_error_rate'];
    $figures['layers'] = count($info['layers']);
    $figures['most_bytes'] = max($figures['most_bytes'], $info['bytes']);
    $figures['most_rate'] = max($figures['most_rate'], $info['estimated_error_rate']);
}
\bloom_drop('growth');
report($figures);

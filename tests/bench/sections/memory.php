<?php

declare(strict_types=1);

/*
 * memory.php FILTER FILE ERROR_RATE - loads a filter of fixed capacity that sizes itself, and
 * says what it takes and which rate it claims. bench_core measures the rate it really has.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

[, $filter, $file, $error_rate] = $argv;

$info = \bloom_load_file($filter, $file, (float) $error_rate, expansion: 0);
report([
    'bits_per_key' => $info['bits_per_key'],
    'estimated_error_rate' => $info['estimated_error_rate'],
]);

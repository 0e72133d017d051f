<?php

declare(strict_types=1);

/*
 * load_file.php FILE [CAPACITY] - keys a second of a whole load, from opening the file to the
 * published filter. The segment exists before the clock starts.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

$file = $argv[1];
$capacity = isset($argv[2]) ? (int) $argv[2] : null;

\bloom_reserve('first', 1);
must(\bloom_status()['available'], 'the segment is not available: ' . \bloom_status()['reason']);
$start = hrtime(true);
$info = \bloom_load_file('loaded', $file, capacity: $capacity);
$seconds = (hrtime(true) - $start) / 1e9;

report(['keys_per_second' => $info['keys'] / $seconds]);

<?php

declare(strict_types=1);

/*
 * reserve.php FILTER CAPACITY - an empty filter, in place of one that may stand.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

[, $filter, $capacity] = $argv;

\bloom_drop($filter);
\bloom_reserve($filter, (int) $capacity, expansion: 0);
report([]);

<?php

declare(strict_types=1);

/*
 * big_fill.php CAPACITY KEYS - makes the big filter and adds the keys that will be asked.
 *
 * A part of its capacity is enough: the memory of a segment is real from its creation, and
 * a question for a present key reads all its bits wherever they lie.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

[, $capacity, $count] = array_map(intval(...), $argv);

\bloom_reserve('big', $capacity, expansion: 0);
\bloom_add_many('big', present_keys($count));
report(['bytes' => \bloom_info('big')['bytes']]);

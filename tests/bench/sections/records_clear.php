<?php

declare(strict_types=1);

/*
 * records_clear.php RECORDS - nanoseconds a record of a clear: of a prefix that no key has, and of
 * all records.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

const BATCH = 10_000;

fresh_segment();
$records = (int) $argv[1];
for ($first = 0; $first < $records; $first += BATCH) {
    $count = min(BATCH, $records - $first);
    $values = array_fill_keys(present_keys($count, $first), '8 bytes.');
    must(\bloom_cache_set_many($values) === $count, 'bloomshm could not store all keys');
}
must(\bloom_cache_info()['records'] === $records, 'the store is too small');

$start = hrtime(true);
$removed = \bloom_cache_clear('non:');
$middle = hrtime(true);
must($removed === 0, 'bloomshm removed records with another prefix');
$removed = \bloom_cache_clear();
$end = hrtime(true);
must($removed === $records, 'bloomshm did not remove all records');
report(['none' => ($middle - $start) / $records, 'all' => ($end - $middle) / $records]);

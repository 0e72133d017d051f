<?php

declare(strict_types=1);

/*
 * restore.php - CAPACITY FILE: a restore, against reading the file into fresh memory: what the
 * system takes to read it from its cache, and one copy.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

function seconds(callable $work): float
{
    $start = hrtime(true);
    $work();
    return (hrtime(true) - $start) / 1e9;
}

[, $capacity, $file] = $argv;
\bloom_reserve('source', (int) $capacity, expansion: 0);
\bloom_add_many('source', present_keys(100_000));
$dump = seconds(static fn () => \bloom_dump('source', $file));
$read = [];
$restore = [];
for ($pass = 0; $pass < 5; $pass++) {
    $read[] = seconds(static fn () => file_get_contents($file));
    $restore[] = seconds(static fn () => \bloom_restore('target', $file));
}
must(
    array_sum(\bloom_maybe_has_many('target', present_keys(100_000))) === 100_000,
    'the restored filter has lost keys',
);
$bytes = filesize($file);
unlink($file);
report(
    [
        'dump' => $bytes / $dump / 1e6, 'read' => $bytes / min($read) / 1e6,
        'restore' => $bytes / min($restore) / 1e6,
    ],
);

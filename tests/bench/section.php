<?php

declare(strict_types=1);

/*
 * section.php - what every program in sections/ begins with.
 *
 * A section runs as a process of its own, takes its arguments from the command line, and
 * prints one JSON object: a number for each figure it measured.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/clock.php';
require __DIR__ . '/keys.php';
require __DIR__ . '/statistics.php';

ini_set('memory_limit', '-1');

/**
 * A bench that asks a filter that is not there measures nothing; so does one whose peer
 * has lost the keys.
 */
function must(bool $holds, string $what): void
{
    if (!$holds) {
        fwrite(STDERR, "$what\n");
        exit(1);
    }
}

/**
 * A new segment instead of the one of the last round, as the peers have one in every process: where
 * a record lies is a matter of what was stored before. To be called before anything of the product.
 */
function fresh_segment(): void
{
    $path = ini_get('bloomshm.path');
    must(!file_exists($path) || unlink($path), "cannot remove $path");
}

/** @param array<string, float|int|string> $figures */
function report(array $figures): void
{
    echo json_encode($figures, JSON_THROW_ON_ERROR), "\n";
}

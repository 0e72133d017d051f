<?php

declare(strict_types=1);

/*
 * program.php - runs a program that prints one JSON object.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

/**
 * A program that fails ends the whole run: a peer that is missing must not be a row that is
 * missing. (Yac is the one that may be left out, by script/bench, which then says so.)
 *
 * @param list<string> $command
 * @return array<string, mixed>
 */
function run(array $command): array
{
    $pipes = [];
    $process = proc_open($command, [1 => ['pipe', 'w'], 2 => STDERR], $pipes);
    if ($process === false) {
        throw new \RuntimeException("cannot start $command[0]");
    }
    $output = stream_get_contents($pipes[1]);
    $status = proc_close($process);
    $result = json_decode($output, true);
    if ($status !== 0 || !is_array($result)) {
        throw new \RuntimeException(
            implode(' ', $command) . " failed with status $status:\n$output",
        );
    }
    return $result;
}

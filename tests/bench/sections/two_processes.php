<?php

declare(strict_types=1);

/*
 * two_processes.php - how much more two processes get done than one, when both ask at once.
 *
 * The processes are forked after everything is set up (APCu is shared in no other way), warm
 * up, wait for each other, and ask for a fixed time.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

const KEYS = 100_000;
const ASK_FOR_NS = 300_000_000;

$keys = present_keys(KEYS);
\bloom_load('articles', $keys);
must(\apcu_store(array_fill_keys($keys, 1)) === [], 'APCu could not store all keys');

$loops = [
    'bloom_maybe_has' => static function (array $keys): void {
        foreach ($keys as $key) {
            \bloom_maybe_has('articles', $key);
        }
    },
    'apcu_exists' => static function (array $keys): void {
        foreach ($keys as $key) {
            \apcu_exists($key);
        }
    },
];

$figures = [];
foreach ($loops as $name => $loop) {
    $figures["{$name}_one"] = keys_per_second($loop, $keys, processes: 1);
    $figures["{$name}_two"] = keys_per_second($loop, $keys, processes: 2);
}
report($figures);

/**
 * All processes together.
 *
 * @param list<string> $keys
 */
function keys_per_second(\Closure $loop, array $keys, int $processes): float
{
    $sockets = [];
    for ($i = 0; $i < $processes; $i++) {
        $sockets[] = start_worker($loop, $keys);
    }
    foreach ($sockets as $socket) {
        must(fgets($socket) === "ready\n", 'a worker died before it was ready');
    }
    foreach ($sockets as $socket) {
        fwrite($socket, "go\n");
    }
    $total = 0.0;
    foreach ($sockets as $socket) {
        $line = fgets($socket);
        must($line !== false, 'a worker died while it asked');
        $total += (float) $line;
    }
    while (pcntl_wait($status) > 0) {
    }
    return $total;
}

/**
 * @param list<string> $keys
 * @return resource the parent's end of the line to the worker
 */
function start_worker(\Closure $loop, array $keys)
{
    [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, STREAM_IPPROTO_IP);
    $pid = pcntl_fork();
    must($pid >= 0, 'fork failed');
    if ($pid === 0) {
        work($loop, $keys, $theirs);
        exit(0);
    }
    return $ours;
}

/**
 * @param list<string> $keys
 * @param resource $parent
 */
function work(\Closure $loop, array $keys, $parent): void
{
    $loop($keys);
    walk($keys);
    fwrite($parent, "ready\n");
    fgets($parent);

    $walks = 0;
    $taken = 0;
    while ($taken < ASK_FOR_NS) {
        $taken += nanoseconds($loop, $keys);
        $walks++;
    }
    for ($i = 0; $i < $walks; $i++) {
        $taken -= nanoseconds(walk(...), $keys);
    }
    fwrite($parent, sprintf("%.3f\n", $walks * count($keys) / ($taken / 1e9)));
}

<?php

declare(strict_types=1);

/*
 * processes.php - the same work in one process or more, all at once.
 *
 * The processes are forked after everything is set up (APCu is shared in no other way), warm
 * up, and wait for each other before they begin.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

const ASK_FOR_NS = 300_000_000;
const WORK_SECONDS = 600; // of a worker, at most

/**
 * All processes together, each asking for a fixed time.
 *
 * @param \Closure(list<string>): void $loop
 * @param list<string> $keys
 */
function keys_per_second(\Closure $loop, array $keys, int $processes): float
{
    $warm_up = static function () use ($loop, $keys): void {
        $loop($keys);
        walk($keys);
    };
    $work = static function () use ($loop, $keys): float {
        $walks = 0;
        $taken = 0;
        while ($taken < ASK_FOR_NS) {
            $taken += nanoseconds($loop, $keys, clock(...));
            $walks++;
        }
        for ($i = 0; $i < $walks; $i++) {
            $taken -= nanoseconds(walk(...), $keys, clock(...));
        }
        return $walks * count($keys) / ($taken / 1e9);
    };
    return array_sum(in_processes($processes, $warm_up, $work));
}

/**
 * @param \Closure(): void $warm_up
 * @param \Closure(int): mixed $work gets the number of its process, from 0
 * @return list<mixed> what the work of each process came to
 */
function in_processes(int $processes, \Closure $warm_up, \Closure $work): array
{
    $sockets = [];
    for ($i = 0; $i < $processes; $i++) {
        $sockets[] = start_worker($i, $warm_up, $work);
    }
    foreach ($sockets as $socket) {
        stream_set_timeout($socket, WORK_SECONDS);
        must(fgets($socket) === "ready\n", 'a worker died before it was ready');
    }
    foreach ($sockets as $socket) {
        fwrite($socket, "go\n");
    }
    $results = [];
    foreach ($sockets as $socket) {
        $line = fgets($socket);
        must($line !== false, 'a worker died at its work');
        $results[] = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
    }
    while (pcntl_wait($status) > 0) {
    }
    return $results;
}

/** @return resource the parent's end of the line to the worker */
function start_worker(int $number, \Closure $warm_up, \Closure $work)
{
    [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, STREAM_IPPROTO_IP);
    $pid = pcntl_fork();
    must($pid >= 0, 'fork failed');
    if ($pid === 0) {
        pcntl_alarm(2 * WORK_SECONDS); // it may wait for another worker that has died
        $warm_up();
        fwrite($theirs, "ready\n");
        fgets($theirs);
        fwrite($theirs, json_encode($work($number), JSON_THROW_ON_ERROR) . "\n");
        exit(0);
    }
    return $ours;
}

<?php

declare(strict_types=1);

/*
 * records_mixed.php CALLS MEGABYTES - the worst of CALLS calls that two processes make at once to a
 * full store of MEGABYTES: 70 % get, 25 % set, 5 % delete, with values of 8 to 2,000 bytes, and
 * about four times as many keys as it holds.
 *
 * A call that waits for the other process, or that a process is taken off the processor in,
 * counts as long as it took. So between the calls to the store there are as many that use none:
 * what the machine did to these, it did to the others, too.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';
require __DIR__ . '/../processes.php';

const KEYS_A_MEGABYTE = 4_000;
const LEAST_BYTES = 8;
const MOST_BYTES = 2_000;
const GETS = 70;
const SETS = 25; // the rest are deletes
const SLOW_NS = 50_000_000;
const PROCESSES = 2;
const FILL = 10_000; // records between two looks whether the store is full
const TURN = 512;    // calls to the store, then as many without it

/** The worst of some calls, and how many were slow. */
final class Calls
{
    public int $worst = 0;
    public int $slow = 0;
    public int $total = 0;

    public function add(int $taken): void
    {
        $this->total += $taken;
        $this->worst = max($this->worst, $taken);
        $this->slow += (int) ($taken > SLOW_NS);
    }
}

fresh_segment();
$calls = (int) $argv[1];
$most = (int) $argv[2] * KEYS_A_MEGABYTE - 1;
$values = [];
for ($bytes = LEAST_BYTES; $bytes <= MOST_BYTES; $bytes++) {
    $values[$bytes] = str_pad("$bytes ", $bytes, '.');
}

$key_of = static fn (int $number): string => sprintf('tag:%08d', $number);

$work = static function (int $process) use ($calls, $most, $key_of, $values): array {
    mt_srand(20 + $process);
    $with = new Calls();
    $without = new Calls();
    for ($i = $process; $i < 2 * $calls; $i += PROCESSES) {
        $key = $key_of(mt_rand(0, $most));
        $value = $values[mt_rand(LEAST_BYTES, MOST_BYTES)];
        $what = mt_rand(0, 99);
        $uses = intdiv($i, TURN) % 2 === 0;
        $start = hrtime(true);
        $result = match (true) {
            !$uses => strrev($value) !== $key,
            $what < GETS => \bloom_cache_get($key),
            $what < GETS + SETS => \bloom_cache_set($key, $value),
            default => \bloom_cache_delete($key),
        };
        ($uses ? $with : $without)->add(hrtime(true) - $start);
        if (is_string($result)) {
            must(
                $values[strlen($result)] === $result, 'bloomshm gave a value that was never stored',
            );
        }
    }
    return ['with' => $with, 'without' => $without];
};

must(\bloom_cache_set('first', 1), 'the segment is not available: ' . \bloom_status()['reason']);
for ($i = 0; $i <= $most && \bloom_cache_info()['evictions'] === 0; $i += FILL) {
    for ($j = $i; $j < $i + FILL; $j++) {
        \bloom_cache_set($key_of($j), $values[mt_rand(LEAST_BYTES, MOST_BYTES)]);
    }
}
$results = in_processes(PROCESSES, static fn () => null, $work);
$info = \bloom_cache_info();
must($info['evictions'] > 0, 'the store was not too small');
must($info['hits'] > 0, 'bloomshm found nothing');
$with = array_column($results, 'with');
$without = array_column($results, 'without');
report([
    'worst_ms' => max(array_column($with, 'worst')) / 1e6,
    'slow_calls' => array_sum(array_column($with, 'slow')),
    'nanoseconds' => array_sum(array_column($with, 'total')) / $calls,
    'without_worst_ms' => max(array_column($without, 'worst')) / 1e6,
    'without_slow_calls' => array_sum(array_column($without, 'slow')),
    'without_nanoseconds' => array_sum(array_column($without, 'total')) / $calls,
    'hits' => $info['hits'],
    'evictions' => $info['evictions'],
    'rejected' => $info['rejected'],
    'lock_timeouts' => $info['lock_timeouts'],
]);

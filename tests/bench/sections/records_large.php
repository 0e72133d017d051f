<?php

declare(strict_types=1);

/*
 * records_large.php - what it takes to read a value of 1 MB, alone and while another process counts
 * up a small one, in the same shard, as fast as it can; and one of 8 MB in a full store, alone and
 * while another process puts values of all sizes, which push each other out.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';
require __DIR__ . '/../processes.php';

const LARGE_BYTES = 1 << 20;
const LARGER_BYTES = 8 << 20;
const READS = 200;
const LOOK_EACH = 100; // writes between two looks at what the reader does
const KEYS = 100_000; // of values of all sizes: more than fit
const MOST_BYTES = 20_000;
/* Of such values, during one read: 8 MB. Where a read takes long, as on a machine with slow page
 * faults, a writer without a limit replaces most of the store before the value is used again. */
const PUTS_MOST = 800;

/**
 * The writer writes all the time, but no more than so often during one read.
 *
 * @return array{alone: array<string, float>, beside: array<string, float>} microseconds, worst
 */
function beside(string $name, int $bytes, \Closure $write, int $most): array
{
    $large = random_bytes($bytes);
    must(\bloom_cache_set($name, $large), "bloomshm could not store a value of $bytes bytes");
    $read = static function () use ($name, $large): array {
        $taken = [];
        $evicted = 0;
        while (count($taken) < READS) {
            $start = hrtime(true);
            $value = \bloom_cache_get($name);
            $time = hrtime(true) - $start;
            \bloom_cache_increment('reads');
            if ($value === null) { // the reader was held up while a quarter was written
                must(++$evicted < READS / 10, "bloomshm evicts $name, which is in use");
                must(\bloom_cache_set($name, $large), "bloomshm could not store $name again");
                continue;
            }
            must($value === $large, 'bloomshm gave another value');
            $taken[] = $time;
        }
        return ['microseconds' => median($taken) / 1e3, 'worst' => max($taken) / 1e3];
    };
    $read();
    $alone = $read();
    [$beside, $written] = in_processes(
        2,
        static fn () => null,
        static function (int $process) use ($read, $write, $most): array {
            if ($process === 0) {
                register_shutdown_function(static fn () => \bloom_cache_set('ended', 1));
                while (\bloom_cache_get('begun') === null) {
                }
                return $read();
            }
            \bloom_cache_set('begun', 1);
            $writes = 0;
            $reads = null;
            $left = $most;
            while (\bloom_cache_get('ended') === null) {
                if (\bloom_cache_get('reads') !== $reads) {
                    $reads = \bloom_cache_get('reads');
                    $left = $most;
                }
                for ($i = 0; $i < LOOK_EACH && $left > 0; $i++, $left--, $writes++) {
                    $write();
                }
            }
            return ['writes' => $writes];
        },
    );
    must($written['writes'] > 0, 'the writer did not write');
    \bloom_cache_delete_many(['begun', 'ended']);
    return ['alone' => $alone, 'beside' => $beside];
}

fresh_segment();
$count = static fn () => \bloom_cache_increment('counter');
$counting = beside('large', LARGE_BYTES, $count, PHP_INT_MAX);
$bytes = random_bytes(MOST_BYTES);
$put = static fn () => \bloom_cache_set(
    'key' . mt_rand(1, KEYS), substr($bytes, 0, mt_rand(0, MOST_BYTES)),
);
for ($i = 0; $i < KEYS / 5; $i++) {
    $put();
}
$putting = beside('larger', LARGER_BYTES, $put, PUTS_MOST);
report([
    'alone' => $counting['alone']['microseconds'],
    'beside' => $counting['beside']['microseconds'],
    'beside_worst' => $counting['beside']['worst'],
    'full' => $putting['alone']['microseconds'],
    'full_beside' => $putting['beside']['microseconds'],
]);

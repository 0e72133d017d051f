<?php

declare(strict_types=1);

/*
 * records_large.php - what it takes to read a value of 1 MB, alone and while another process counts
 * up a small one, in the same shard, as fast as it can.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';
require __DIR__ . '/../processes.php';

const LARGE_BYTES = 1 << 20;
const READS = 200;
const COUNTS = 1_000; // between two looks whether the reader has ended

fresh_segment();
$large = random_bytes(LARGE_BYTES);
must(\bloom_cache_set('large', $large), 'bloomshm could not store a value of 1 MB');

$read = static function () use ($large): array {
    $taken = [];
    for ($i = 0; $i < READS; $i++) {
        $start = hrtime(true);
        $value = \bloom_cache_get('large');
        $taken[] = hrtime(true) - $start;
        must($value === $large, 'bloomshm gave another value');
    }
    return ['microseconds' => median($taken) / 1e3, 'worst' => max($taken) / 1e3];
};
$count = static function (): array {
    for ($counts = 0; \bloom_cache_get('ended') === null; $counts += COUNTS) {
        for ($i = 0; $i < COUNTS; $i++) {
            \bloom_cache_increment('counter');
        }
    }
    return ['counts' => $counts];
};
$read();
$alone = $read();
[$beside, $counted] = in_processes(
    2,
    static fn () => null,
    static function (int $process) use ($read, $count): array {
        if ($process === 1) {
            return $count();
        }
        while (\bloom_cache_get('counter') === null) {
        }
        $taken = $read();
        \bloom_cache_set('ended', 1);
        return $taken;
    },
);
must($counted['counts'] > 0, 'the writer did not write');
report([
    'alone' => $alone['microseconds'],
    'beside' => $beside['microseconds'],
    'beside_worst' => $beside['worst'],
]);

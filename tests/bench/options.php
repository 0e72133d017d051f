<?php

declare(strict_types=1);

/*
 * options.php - what script/bench tells run.php.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

final readonly class Options
{
    /**
     * @param ?string $yac its module; null: it is not there, and its rows are left out
     * @param int $redisCpu where the Redis server runs
     * @param int $otherCpu any other
     * @param string $programs folder of the compiled C programs
     * @param string $keyFiles folder of the files keys-1M, keys-10M, keys-100M
     * @param string $segments folder for the segments, in memory
     * @param string $output folder for bench.json and bench.svg
     * @param list<int> $mixed the stores of the mixed run, in MB
     */
    public function __construct(
        public string $extension,
        public ?string $yac,
        public string $redisSocket,
        public int $redisCpu,
        public int $otherCpu,
        public string $programs,
        public string $keyFiles,
        public string $segments,
        public string $output,
        public int $rounds,
        public array $mixed,
        public bool $quick,
    ) {
    }

    public static function fromCommandLine(): self
    {
        $given = getopt('', [
            'extension:', 'yac:', 'redis-socket:', 'redis-cpu:', 'other-cpu:', 'programs:',
            'key-files:', 'segments:', 'output:', 'rounds:', 'mixed:', 'quick',
        ]);
        return new self(
            $given['extension'],
            $given['yac'] ?? null,
            $given['redis-socket'],
            (int) $given['redis-cpu'],
            (int) $given['other-cpu'],
            $given['programs'],
            $given['key-files'],
            $given['segments'],
            $given['output'],
            (int) $given['rounds'],
            array_map(intval(...), explode(',', $given['mixed'])),
            isset($given['quick']),
        );
    }
}

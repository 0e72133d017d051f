<?php

declare(strict_types=1);

/*
 * commands.php - the command lines of the programs of a run.
 *
 * PHP runs without any php.ini, so that nothing but what is named here is loaded.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

final readonly class Commands
{
    public function __construct(private Options $options)
    {
    }

    /**
     * @param list<string> $settings "name=value"
     * @return list<string>
     */
    public function php(string $script, array $settings, string|int|float ...$arguments): array
    {
        $command = [PHP_BINARY, '-n'];
        foreach ($settings as $setting) {
            array_push($command, '-d', $setting);
        }
        return [
            ...$command, __DIR__ . "/sections/$script.php", ...array_map(strval(...), $arguments),
        ];
    }

    /**
     * @param list<string> $command
     * @return list<string>
     */
    public function onCpu(int $cpu, array $command): array
    {
        return ['taskset', '-c', (string) $cpu, ...$command];
    }

    /** @return list<string> */
    public function program(string $name, string|int|float ...$arguments): array
    {
        return ["{$this->options->programs}/$name", ...array_map(strval(...), $arguments)];
    }

    public function segmentFile(string $segment): string
    {
        return "{$this->options->segments}/$segment";
    }

    public function keyFile(string $keys): string
    {
        return "{$this->options->keyFiles}/keys-$keys";
    }

    /** @return list<string> */
    public function product(string $segment, string $memory): array
    {
        return [
            "extension={$this->options->extension}",
            "bloomshm.path={$this->segmentFile($segment)}",
            "bloomshm.filter_memory=$memory",
        ];
    }

    /** @return list<string> a segment for records: with the least of room for filters */
    public function store(string $segment, string $memory): array
    {
        return [...$this->product($segment, '1M'), "bloomshm.cache_memory=$memory"];
    }

    /** @return list<string> APCu with a hash table as large as its content needs */
    public function apcu(int $entries): array
    {
        return [
            'extension=apcu.so', 'apc.enable_cli=1', 'apc.shm_size=256M',
            "apc.entries_hint=$entries",
        ];
    }

    /**
     * @return list<string> nothing if it is not there; keys_memory_size is fitted to 200,000 keys
     */
    public function yac(): array
    {
        if ($this->options->yac === null) {
            return [];
        }
        return ["extension={$this->options->yac}", 'yac.enable_cli=1', 'yac.keys_memory_size=64M'];
    }

    /** @return list<string> Debian's build of phpredis needs igbinary */
    public function redis(): array
    {
        return ['extension=igbinary.so', 'extension=redis.so'];
    }
}

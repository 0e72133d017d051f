<?php

declare(strict_types=1);

/*
 * plan.php - which programs a run consists of, on which segment, and how often each runs.
 *
 * Rounds are interleaved: every section runs once a round, one after the other, so that the
 * figures of a ratio are taken within the same seconds and a slow moment of the machine
 * falls on all of them.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

final readonly class Section
{
    /**
     * @param string $name its figures are called "name/figure"
     * @param list<string> $command
     * @param int $rounds it runs in the first so many rounds
     */
    public function __construct(public string $name, public array $command, public int $rounds)
    {
    }
}

final readonly class Plan
{
    private const BIG_CAPACITY = 850_000_000; // about 1 GB at 1 %
    private const BIG_KEYS = 2_000_000;
    private const BIG_ASKED = 1_000_000;
    private const RANDOM_LOADS = 2_000_000;
    private const ARRIVAL_CAPACITY = 100_000_000;
    private const ARRIVAL_KEYS = 5_000_000;
    private const ATTACHES = 101;
    private const KINDS_KEYS = 10_000_000;
    private const KINDS_ASKED = 200_000;
    private const MIXED_CALLS = 10_000_000;
    private const CLEARED = 800_000;
    private const CORE_RECORDS = 10_000_000;
    private const FEW_ROUNDS = 3; // for what takes half a minute
    private const RESTORED_CAPACITY = 200_000_000; // 252 MB

    private Commands $commands;

    public function __construct(private Options $options)
    {
        $this->commands = new Commands($options);
    }

    /** @return list<Section> in the order they run within a round */
    public function sections(): array
    {
        $sections = [
            ...$this->questions(), ...$this->records(), ...$this->memory(), ...$this->kinds(),
            $this->command(),
        ];
        if ($this->options->quick) {
            return $sections;
        }
        return [...$sections, ...$this->loads(), ...$this->bigFilter()];
    }

    /** @return list<string> the command that names product and peers */
    public function versions(): array
    {
        $run = $this->commands;
        $settings = [
            ...$run->apcu(1), ...$run->yac(), ...$run->redis(), ...$run->product('small', '16M'),
        ];
        return $run->php('versions', $settings, $this->options->redisSocket);
    }

    /** @return list<Section> */
    private function questions(): array
    {
        $run = $this->commands;
        $small = $run->product('small', '16M');
        $in_order = $run->php('ask_in_order', [...$run->apcu(100_000), ...$run->yac(), ...$small]);
        $shuffled = $run->php('ask_shuffled', [...$run->apcu(200_000), ...$small]);
        $redis = $run->php('ask_redis', $run->redis(), $this->options->redisSocket);
        $processes = $run->php('two_processes', [...$run->apcu(100_000), ...$small]);
        return [
            $this->everyRound('in_order', $in_order),
            $this->everyRound('shuffled', $shuffled),
            $this->everyRound('redis_near', $run->onCpu($this->options->redisCpu, $redis)),
            $this->everyRound('redis_far', $run->onCpu($this->options->otherCpu, $redis)),
            $this->everyRound('processes', $processes),
            ...array_fill(0, 5, $this->everyRound('attach_php', $run->php('first_call', $small))),
            $this->everyRound('attach_core', $run->program(
                'bench_core',
                'attach',
                $run->segmentFile('small'),
                'articles',
                self::ATTACHES,
            )),
        ];
    }

    /** @return list<Section> the record store, a new one each; the worst call is that of one run */
    private function records(): array
    {
        $run = $this->commands;
        $store = $run->store('records', '64M');
        $shuffled = $run->php(
            'records_shuffled', [...$run->apcu(200_000), ...$run->yac(), ...$store],
        );
        $in_order = $run->php('records_in_order', [...$run->apcu(100_000), ...$store]);
        $processes = $run->php('records_two_processes', [...$run->apcu(1_000), ...$store]);
        $roomy_or_not = [
            $this->everyRound('records_tight', $run->php('records_get', $store)),
            $this->everyRound(
                'records_roomy', $run->php('records_get', $run->store('records', '256M')),
            ),
        ];
        $large = $run->php('records_large', $store);
        $page = $run->php('fetch_many', $store);
        $clear = $run->php('records_clear', $store, self::CLEARED);
        $locks = $run->program('bench_locks', 64, $run->segmentFile('records'));
        $few = min(self::FEW_ROUNDS, $this->options->rounds);
        $quick = $this->options->quick;
        $count = $quick ? intdiv(self::CORE_RECORDS, 10) : self::CORE_RECORDS;
        $core = $run->program('bench_records', $count, $run->segmentFile('records'));
        return [
            $this->everyRound('records_shuffled', $shuffled),
            $this->everyRound('records_in_order', $in_order),
            $this->everyRound('records_processes', $processes),
            ...array_merge(...array_fill(0, 3, $roomy_or_not)), // where pages lie differs each time
            $this->everyRound('records_large', $large),
            $this->everyRound('fetch_many', $page),
            $this->everyRound('records_clear', $clear),
            new Section('records_locks', $locks, 1),
            ...$this->mixed(),
            new Section('records_core', $core, $few),
        ];
    }

    /** @return list<Section> calls of two processes to full stores */
    private function mixed(): array
    {
        $calls = $this->options->quick ? intdiv(self::MIXED_CALLS, 10) : self::MIXED_CALLS;
        $section = fn (int $megabytes): Section => new Section(
            "records_mixed_$megabytes",
            $this->commands->php(
                'records_mixed', $this->commands->store('records', "{$megabytes}M"), $calls,
                $megabytes,
            ),
            1,
        );
        return array_map($section, $this->options->mixed);
    }

    /** @return list<Section> sizes and rates are not a matter of chance: one round */
    private function memory(): array
    {
        $run = $this->commands;
        $sections = [];
        foreach (memory_cases($this->options->quick) as $case) {
            $name = $case->name();
            $sections[] = new Section($name, $run->php(
                'memory',
                $run->product('memory', '256M'),
                $name,
                $run->keyFile($case->keys),
                $case->errorRate(),
            ), 1);
            $sections[] = new Section($name, $run->program(
                'bench_core',
                'rate',
                $run->segmentFile('memory'),
                $name,
                $case->probes,
            ), 1);
        }
        return $sections;
    }

    /** @return list<Section> growth, the kinds of filters, files */
    private function kinds(): array
    {
        $run = $this->commands;
        $keys = $this->options->quick ? 1_000_000 : self::KINDS_KEYS;
        $kinds = $run->product('kinds', '128M');
        $sections = [
            new Section('growth', $run->php('growth', $run->product('growth', '64M'), $keys), 1),
            new Section('kinds', $run->php('kinds_fill', $kinds, $keys), 1),
            $this->everyRound(
                'kinds', $run->php('kinds_ask', $kinds, min(intdiv($keys, 10), self::KINDS_ASKED)),
            ),
        ];
        foreach (reserved_cases() as [$size, $percent]) {
            $count = (int) $size * 1_000_000;
            $command = $run->program('bench_core', 'size', 'none', $percent, $count);
            $sections[] = new Section("reserved_{$size}_$percent", $command, 1);
        }
        $capacity = $this->options->quick ? 20_000_000 : self::RESTORED_CAPACITY;
        $files = $run->product('files', $this->options->quick ? '128M' : '800M');
        $file = $run->segmentFile('dump');
        $sections[] = new Section('files', $run->php('restore', $files, $capacity, $file), 1);
        return $sections;
    }

    private function command(): Section
    {
        $run = $this->commands;
        $file = $run->keyFile($this->options->quick ? '1M' : '10M');
        $settings = $run->product('command', '64M');
        return $this->everyRound('command', $run->php(
            'command', $settings, "{$this->options->programs}/bloomshm", $file,
        ));
    }

    /** @return list<Section> */
    private function loads(): array
    {
        $run = $this->commands;
        $loads = $run->product('loads', '640M');
        $hundred = $run->php('load_file', $loads, $run->keyFile('100M'), self::ARRIVAL_CAPACITY);
        return [
            $this->everyRound('load_10M', $run->php('load_file', $loads, $run->keyFile('10M'))),
            new Section('load_100M', $hundred, min(3, $this->options->rounds)),
            $this->everyRound(
                'arrival', $run->php('reserve', $loads, 'arrival', self::ARRIVAL_CAPACITY),
            ),
            $this->everyRound('arrival', $run->program(
                'bench_core',
                'add',
                $run->segmentFile('loads'),
                'arrival',
                self::ARRIVAL_KEYS,
            )),
        ];
    }

    /** @return list<Section> */
    private function bigFilter(): array
    {
        $run = $this->commands;
        $big = $run->product('big', '1100M');
        $file = $run->segmentFile('big');
        $fill = $run->php('big_fill', $big, self::BIG_CAPACITY, self::BIG_KEYS);
        return [
            new Section('big', $fill, 1),
            $this->everyRound('big', $run->php('big_ask', $big, self::BIG_ASKED)),
            $this->everyRound(
                'big_core', $run->program('bench_core', 'ask', $file, 'big', self::BIG_ASKED),
            ),
            $this->everyRound(
                'random_load', $run->program('random_load', $file, self::RANDOM_LOADS),
            ),
        ];
    }

    /** @param list<string> $command */
    private function everyRound(string $name, array $command): Section
    {
        return new Section($name, $command, $this->options->rounds);
    }
}

<?php

/*
 * A checking client of script/test-fpm: adds keys, asks keys, and believes no answer.
 *
 * usage: client.php NAME SITE-URL POOL OTHER-POOL SECONDS SEED DIR
 *
 * Every key whose add was answered is written to DIR/added-NAME for the survey at the end.
 */

declare(strict_types=1);

require __DIR__ . '/keys.php';
require __DIR__ . '/site.php';

const GROUP = 20;

final class Client
{
    private int $requests = 0;
    /** @var list<string> */
    private array $added = [];
    /** @var array<int, true> */
    private array $workers = [];
    /** @var array<string, true> */
    private array $paths = [];
    private int $generation = 0;
    private int $generations = 0;
    private int $absentAsked = 0;
    private int $absentMaybe = 0;
    private float $absentExpected = 0.0;
    /** @var array<string, list<string>> */
    private array $problems = ['request' => [], 'lost' => [], 'mixed' => [], 'backward' => []];

    public function __construct(
        private readonly string $name,
        private readonly Site $site,
        private readonly string $pool,
        private readonly string $otherPool,
        private readonly string $dir,
    ) {
    }

    public function run(float $seconds): void
    {
        $end = microtime(true) + $seconds;
        while (microtime(true) < $end) {
            try {
                $this->requests += 2;
                $this->add();
                $this->ask();
            } catch (RuntimeException | JsonException $problem) {
                $this->problems['request'][] = $problem->getMessage();
            }
        }
        file_put_contents("$this->dir/added-$this->name", implode("\n", $this->added));
    }

    private function add(): void
    {
        $key = "added/$this->pool/$this->name/$this->requests";
        $this->site->post('add', $key);
        $this->added[] = $key;
    }

    private function ask(): void
    {
        $round = (int) file_get_contents("$this->dir/$this->pool.round");
        $groups = [
            'golden' => random_golden_keys($this->pool, GROUP),
            'added' => $this->someAddedKeys(),
            'this round' => array_map(fn (int $i) => varying_key($round, $i), range(1, GROUP)),
            'last round' => array_map(fn (int $i) => varying_key($round - 1, $i), range(1, GROUP)),
            'absent' => random_golden_keys($this->otherPool, GROUP),
        ];
        $answer = $this->site->post('ask', array_merge(...array_values($groups)));
        $together = array_combine(array_keys($groups), array_chunk($answer['together'], GROUP));
        $oneByOne = array_combine(array_keys($groups), array_chunk($answer['one_by_one'], GROUP));

        $this->workers[$answer['pid']] = true;
        $this->paths[$answer['path']] = true;
        $this->followGeneration($answer['generation']);
        foreach (['golden', 'added'] as $group) {
            $this->demandAll($groups[$group], $together[$group]);
            $this->demandAll($groups[$group], $oneByOne[$group]);
        }
        $this->demandAllOrNone($round, $together['this round']);
        $this->demandAllOrNone($round - 1, $together['last round']);
        $this->absentAsked += GROUP;
        $this->absentMaybe += count(array_filter($together['absent']));
        $this->absentExpected += GROUP * $answer['error_rate'];
    }

    /** The newest, and older ones by chance. @return list<string> */
    private function someAddedKeys(): array
    {
        $last = count($this->added) - 1;
        $keys = array_map(fn () => $this->added[mt_rand(0, $last)], range(2, GROUP));
        return [$this->added[$last], ...$keys];
    }

    private function followGeneration(int $generation): void
    {
        if ($generation < $this->generation) {
            $this->problems['backward'][] = "$generation after $this->generation";
        }
        $this->generations += (int) ($generation !== $this->generation);
        $this->generation = $generation;
    }

    private function demandAll(array $keys, array $answers): void
    {
        foreach (array_keys($answers, false, true) as $i) {
            $this->problems['lost'][] = "$keys[$i] in generation $this->generation";
        }
    }

    /** More than half of a round's keys, but not all, cannot be chance. */
    private function demandAllOrNone(int $round, array $answers): void
    {
        $found = count(array_filter($answers));
        if ($found > GROUP / 2 && $found < GROUP) {
            $this->problems['mixed'][] = "$found of " . GROUP . " keys of round $round";
        }
    }

    public function report(): void
    {
        $who = "client $this->name";
        $workers = count($this->workers);
        $added = count($this->added);
        $paths = implode(' ', array_keys($this->paths));
        check(
            "$who: $this->requests requests to $workers workers, each answered with 200",
            $this->problems['request'],
        );
        check(
            "$who: golden keys and $added added keys found in every answer",
            $this->problems['lost'],
        );
        check("$who: every answer from one generation", $this->problems['mixed']);
        check(
            "$who: $this->generations generations, never an older one again",
            $this->problems['backward'],
        );
        check("$who: only one segment seen", count($this->paths) === 1 ? [] : [$paths]);
        $this->reportAbsent($who);
    }

    /**
     * A leak from the other pool, or a filter that says "maybe" to everything, would be far above
     * the rate.
     */
    private function reportAbsent(string $who): void
    {
        $limit = 1.5 * $this->absentExpected + GROUP;
        $numbers = sprintf(
            "%d of %d keys of the other pool are maybe, %.0f expected",
            $this->absentMaybe,
            $this->absentAsked,
            $this->absentExpected
        );
        check(
            "$who: $numbers", $this->absentMaybe <= $limit ? [] : [sprintf('above %.0f', $limit)],
        );
    }
}

[, $name, $url, $pool, $otherPool, $seconds, $seed, $dir] = $argv;
mt_srand((int) $seed);
$client = new Client($name, new Site($url), $pool, $otherPool, $dir);
$client->run((float) $seconds);
$client->report();

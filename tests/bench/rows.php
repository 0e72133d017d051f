<?php

declare(strict_types=1);

/*
 * rows.php - the figures that the product must reach, and some for comparison.
 *
 * A row is one figure, or one figure over another of the same round. Times are nanoseconds a
 * key: product over peer is "times its cost", peer over product is "times faster".
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

final readonly class Goal
{
    private function __construct(private string $text, private float $low, private float $high)
    {
    }

    public static function atMost(float $limit): self
    {
        return new self("<= $limit", -INF, $limit);
    }

    public static function atLeast(float $limit): self
    {
        return new self(">= $limit", $limit, INF);
    }

    public static function between(float $low, float $high): self
    {
        return new self("$low to $high", $low, $high);
    }

    public function isMetBy(float $value): bool
    {
        return $this->low <= $value && $value <= $this->high;
    }

    public function __toString(): string
    {
        return $this->text;
    }
}

final readonly class Row
{
    public function __construct(
        public string $title,
        public string $unit,
        private string $over,
        private ?string $under = null,
        public ?Goal $goal = null,
        private float $scale = 1.0,
    ) {
    }

    /** Over the rounds in which both were measured. */
    public function spread(Figures $figures): Spread
    {
        $values = [];
        $under = $this->under === null ? null : $figures->of($this->under);
        foreach ($figures->of($this->over) as $round => $over) {
            if ($under === null) {
                $values[] = $over * $this->scale;
            } elseif (isset($under[$round])) {
                $values[] = $over / $under[$round] * $this->scale;
            }
        }
        return Spread::of($values);
    }
}

/** @return list<Row> */
function rows(Options $options): array
{
    $quick = $options->quick;
    $rows = [
        ...question_rows(), ...record_rows(), ...page_rows(), ...record_work_rows(),
        ...mixed_rows($quick, $options->mixed), ...core_rows($quick),
        ...($options->yac !== null ? yac_rows() : []),
        ...attach_rows(), ...memory_rows($quick), ...kind_rows($quick),
    ];
    $rows = [...$rows, ...command_rows()];
    return $quick ? $rows : [...$rows, ...load_rows(), ...big_rows()];
}

/** @return list<Row> */
function question_rows(): array
{
    $one = 'in_order/bloom_maybe_has';
    $absent = 'in_order/bloom_maybe_has_absent';
    $many = 'in_order/bloom_maybe_has_many';
    $str_contains = 'in_order/str_contains';
    $floor = 'in_order/floor';
    $hot_one = 'in_order/hot_bloom_maybe_has';
    $hot_many = 'in_order/hot_bloom_maybe_has_many';
    $shuffled = 'shuffled/bloom_maybe_has';
    $apcu = 'in_order/apcu_exists';
    $apcu_shuffled = 'shuffled/apcu_exists';
    $scattered = 'shuffled/bloom_maybe_has_scattered';
    $apcu_scattered = 'shuffled/apcu_exists_scattered';
    return [
        cost(
            'bloom_maybe_has against str_contains, 100 k keys in order', $one, $str_contains,
            Goal::atMost(2),
        ),
        cost('bloom_maybe_has against str_contains, absent keys', $absent, $str_contains),
        cost('bloom_maybe_has against the floor of any call', $one, $floor),
        faster(
            'bloom_maybe_has against apcu_exists, 100 k keys in order', $apcu, $one,
            Goal::atLeast(3),
        ),
        faster(
            'bloom_maybe_has against apcu_exists, 200 k shuffled', $apcu_shuffled, $shuffled,
            Goal::atLeast(5),
        ),
        faster(
            'the same, key strings scattered too', $apcu_scattered, $scattered, Goal::atLeast(5),
        ),
        faster(
            "bloom_maybe_has against pixiv's way on APCu", 'in_order/pixiv', $one,
            Goal::atLeast(15),
        ),
        faster(
            'bloom_maybe_has against phpredis GET, another CPU', 'redis_far/get', $one,
            Goal::atLeast(1000),
        ),
        faster('bloom_maybe_has against phpredis GET, the same CPU', 'redis_near/get', $one),
        cost(
            'bloom_maybe_has_many, 20 keys, hot, against the single call', $hot_many, $hot_one,
            Goal::atMost(0.75),
        ),
        cost('bloom_maybe_has_many, 20 keys, 100 k keys in order', $many, $one),
        throughput(
            'two processes against one, bloom_maybe_has', 'processes/bloom_maybe_has',
            Goal::atLeast(1.9),
        ),
        throughput('two processes against one, apcu_exists', 'processes/apcu_exists'),
    ];
}

/** @return list<Row> */
function record_rows(): array
{
    $get = 'records_shuffled/bloom_cache_get';
    $set = 'records_shuffled/bloom_cache_set';
    $apcu_fetch = 'records_shuffled/apcu_fetch';
    $apcu_store = 'records_shuffled/apcu_store';
    $in_order = 'records_in_order/bloom_cache_get';
    $hot = 'records_in_order/hot_bloom_cache_get';
    $long = 'records_in_order/long_bloom_cache_get';
    $processes = 'records_processes/bloom_cache_get';
    return [
        faster(
            'bloom_cache_get against apcu_fetch, 200 k shuffled', $apcu_fetch, $get,
            Goal::atLeast(2.5),
        ),
        faster(
            'bloom_cache_set against apcu_store, 200 k shuffled', $apcu_store, $set,
            Goal::atLeast(2.5),
        ),
        faster(
            'bloom_cache_set_many against apcu_store, lists of 1,000', "{$apcu_store}_many",
            "{$set}_many",
        ),
        faster(
            'bloom_cache_get against apcu_fetch, 100 k keys in order',
            'records_in_order/apcu_fetch', $in_order, Goal::atLeast(1.8),
        ),
        faster(
            'the same, 1,000 hot keys in order', 'records_in_order/hot_apcu_fetch', $hot,
            Goal::atLeast(2),
        ),
        faster(
            'the same, 8 kB string', 'records_in_order/long_apcu_fetch', $long, Goal::atLeast(1.2),
        ),
        throughput(
            'two processes against one, bloom_cache_get, hot', $processes, Goal::atLeast(1.9),
        ),
        throughput('two processes against one, apcu_fetch, hot', 'records_processes/apcu_fetch'),
    ];
}

/** @return list<Row> a page of 20 tags, one of which has a record */
function page_rows(): array
{
    return [
        cost(
            'bloom_fetch_many, 20 tags, against bloom_maybe_has_many and bloom_cache_get_many',
            'fetch_many/many', 'fetch_many/bare', Goal::atMost(1.3),
        ),
        faster(
            'the same against 20 calls of bloom_fetch', 'fetch_many/one_by_one', 'fetch_many/many',
        ),
        new Row('the same', 'ns a page', 'fetch_many/many', goal: Goal::atMost(2000)),
        new Row(
            'calls of the loader, first view of a page', 'calls', 'fetch_many/cold_loads',
            goal: Goal::between(1, 1),
        ),
    ];
}

/** @return list<Row> roomy stores, clears, large values beside a writer, locks */
function record_work_rows(): array
{
    $rows = [
        cost(
            'bloom_cache_get, 100 k in order, 256 MB against 64 MB',
            'records_roomy/in_order', 'records_tight/in_order', Goal::atMost(1.1),
        ),
        cost(
            'the same shuffled', 'records_roomy/shuffled', 'records_tight/shuffled',
            Goal::atMost(1.1),
        ),
        new Row(
            'clear of 800,000 records, 64 MB', 'ns a record', 'records_clear/all',
            goal: Goal::atMost(600),
        ),
        new Row(
            'the same with a prefix that no key has', 'ns a record', 'records_clear/none',
            goal: Goal::atMost(150),
        ),
        cost(
            'a value of 1 MB read beside a busy writer', 'records_large/beside',
            'records_large/alone', Goal::atMost(2),
        ),
        cost(
            'one of 8 MB in a full store beside a writer of all sizes', 'records_large/full_beside',
            'records_large/full', Goal::atMost(2),
        ),
    ];
    $calls = [
        'set' => 'sets with an eviction', 'large' => 'sets of 8 MB', 'verify' => 'bloom_verify',
        'clear' => 'a clear',
    ];
    foreach ($calls as $call => $what) {
        $rows[] = new Row(
            "longest hold of a lock, full 64 MB: $what", 'ms', "records_locks/$call",
            goal: Goal::atMost(5),
        );
    }
    return $rows;
}

/**
 * @param list<int> $stores in MB
 * @return list<Row>
 */
function mixed_rows(bool $quick, array $stores): array
{
    $calls = ($quick ? '1 M' : '10 M') . ' mixed calls, 2 processes';
    $rows = [];
    foreach ($stores as $megabytes) {
        $of = "$calls, $megabytes MB";
        $figures = "records_mixed_$megabytes";
        $rows[] = new Row("worst of $of", 'ms', "$figures/worst_ms", goal: Goal::atMost(50));
        $rows[] = new Row(
            'of them above 50 ms', 'calls', "$figures/slow_calls", goal: Goal::atMost(0),
        );
        $rows[] = new Row(
            'worst of as many calls between them, without the store', 'ms',
            "$figures/without_worst_ms",
        );
        $rows[] = new Row('of them above 50 ms', 'calls', "$figures/without_slow_calls");
    }
    return $rows;
}

/** @return list<Row> from C, without PHP */
function core_rows(bool $quick): array
{
    $operations = [
        'set' => ['Set', Goal::atLeast(1.7)],
        'get' => ['Get', Goal::atLeast(1.6)],
        'remove' => ['Remove', Goal::atLeast(1.6)],
        'set_20' => ['Set, 20 keys at once', null],
        'get_20' => ['Get, 20 keys at once', Goal::atLeast(3)],
        'remove_20' => ['Remove, 20 keys at once', null],
    ];
    $records = ($quick ? '1 M' : '10 M') . ' records';
    $rows = [];
    foreach ($operations as $operation => [$what, $goal]) {
        foreach (['1' => 'one worker', '2' => 'two workers'] as $workers => $of) {
            $store = "records_core/store_{$operation}_$workers";
            $peer = "records_core/cachedbm_{$operation}_$workers";
            $rows[] = faster("$what against CacheDBM, C, $records, $of", $peer, $store, $goal);
        }
    }
    $bytes = 'records_core/store_bytes';
    $rows[] = new Row("memory, $records", 'bytes a record', $bytes, goal: Goal::atMost(33));
    $rows[] = new Row(
        'the same', "of CacheDBM's", $bytes, 'records_core/cachedbm_bytes', Goal::atMost(0.5),
    );
    return $rows;
}

/** @return list<Row> those that need Yac */
function yac_rows(): array
{
    $get = 'records_shuffled/bloom_cache_get';
    $set = 'records_shuffled/bloom_cache_set';
    $yac_get = 'records_shuffled/yac_get';
    $yac_set = 'records_shuffled/yac_set';
    return [
        faster('bloom_maybe_has against Yac::get', 'in_order/yac_get', 'in_order/bloom_maybe_has'),
        faster(
            'bloom_cache_get against Yac::get, 200 k shuffled', $yac_get, $get, Goal::atLeast(3.5),
        ),
        faster(
            'bloom_cache_set against Yac::set, 200 k shuffled', $yac_set, $set, Goal::atLeast(3),
        ),
    ];
}

/** @return list<Row> */
function big_rows(): array
{
    $one = 'big/bloom_maybe_has';
    $many = 'big/bloom_maybe_has_many';
    $load = 'random_load/nanoseconds';
    return [
        cost(
            'bloom_maybe_has_many, 1 GB filter, against the single call', $many, $one,
            Goal::atMost(0.35),
        ),
        cost('bloom_maybe_has, 1 GB filter, against a random load', $one, $load, Goal::atMost(1.6)),
        cost('single question from C, 1 GB filter, against the same', 'big_core/has', $load),
        cost(
            '20 questions at once from C, 1 GB filter, against the same', 'big_core/view_has',
            $load,
        ),
    ];
}

/** @return list<Row> */
function command_rows(): array
{
    $asked = 'command/has_keys_per_second';
    $load = 'command/load_keys_per_second';
    return [
        new Row(
            'bloomshm has, keys of a file', 'M keys/s', $asked, goal: Goal::atLeast(10),
            scale: 1e-6,
        ),
        new Row('bloomshm load', 'M keys/s', $load, scale: 1e-6),
        faster(
            'bloomshm load, against bloom_load_file', $load, 'command/php_keys_per_second',
            Goal::atLeast(0.95),
        ),
        new Row(
            'bloomshm has, one key: from start to end', 'ms', 'command/start_ms',
            goal: Goal::atMost(2),
        ),
    ];
}

/** @return list<Row> */
function load_rows(): array
{
    $ten = 'load_10M/keys_per_second';
    $hundred = 'load_100M/keys_per_second';
    $arrival = 'arrival/keys_per_second';
    return [
        new Row(
            'bloom_load_file, 10 M lines', 'M keys/s', $ten, goal: Goal::atLeast(8), scale: 1e-6,
        ),
        new Row('bloom_load_file, 100 M lines', 'M keys/s', $hundred, scale: 1e-6),
        faster(
            'bloom_load_file, 100 M lines, against adding in order', $hundred, $arrival,
            Goal::atLeast(3),
        ),
    ];
}

/** @return list<Row> */
function memory_rows(bool $quick): array
{
    $rows = [];
    foreach (memory_cases($quick) as $case) {
        $bits = "{$case->name()}/bits_per_key";
        $measured = "{$case->name()}/measured";
        $estimated = "{$case->name()}/estimated_error_rate";
        $of_asked = 1 / $case->errorRate();
        $filter = "$case->keys keys at $case->percent %";
        $rows[] = new Row("memory, $filter", 'bits a key', $bits, goal: Goal::atMost($case->bits));
        $rows[] = new Row(
            "rate, $filter", 'of the asked', $measured, null, Goal::atMost(1), $of_asked,
        );
        $rows[] = new Row(
            "rate, $filter", 'of the estimated', $measured, $estimated, Goal::between(0.95, 1.05),
        );
    }
    return $rows;
}

/** @return list<Row> */
function kind_rows(bool $quick): array
{
    $growth = 'grown from 100 keys to ' . ($quick ? '1 M' : '10 M');
    $rows = [
        new Row(
            "$growth: most memory", 'MB', 'growth/most_bytes', goal: Goal::atMost(36), scale: 1e-6,
        ),
        new Row(
            "$growth: memory when last full", 'MB', 'growth/full_bytes', goal: Goal::atMost(18),
            scale: 1e-6,
        ),
        new Row(
            "$growth: the same", 'bits a key', 'growth/full_bits_a_key',
            goal: $quick ? null : Goal::atMost(14.4),
        ),
        new Row("$growth: layers", 'layers', 'growth/layers', goal: Goal::atMost(12)),
        new Row(
            "$growth: highest rate", 'of the asked', 'growth/most_rate', null, Goal::atMost(1),
            1 / GROWN_RATE,
        ),
        cost(
            'absent keys, grown against one layer of its memory', 'kinds/grown_absent',
            'kinds/as_large_absent', Goal::atMost(3),
        ),
        cost(
            'absent keys, grown against one layer of as many keys', 'kinds/grown_absent',
            'kinds/single_absent', Goal::atMost(3),
        ),
        cost('the same, 20 keys a call', 'kinds/grown_many', 'kinds/single_many', Goal::atMost(3)),
        cost(
            'present keys, grown against one layer of as many keys', 'kinds/grown_present',
            'kinds/single_present',
        ),
        cost(
            'absent keys, sliding against fixed of the same memory', 'kinds/sliding_absent',
            'kinds/plain_absent', Goal::atMost(1.5),
        ),
        cost(
            'present keys, the same', 'kinds/sliding_present', 'kinds/plain_present',
            Goal::atMost(1.5),
        ),
        cost('absent keys, counting against fixed', 'kinds/counting_absent', 'kinds/plain_absent'),
        cost(
            'bloom_restore against reading the file into memory', 'files/read', 'files/restore',
            Goal::atMost(2),
        ),
        new Row('bloom_dump', 'MB/s', 'files/dump'),
    ];
    foreach (reserved_cases() as [$size, $percent, $tair, $goal]) {
        $title = "reserved, $size keys at $percent % (TairBloom: $tair MB)";
        $rows[] = new Row(
            $title, 'MB', "reserved_{$size}_$percent/megabytes", goal: Goal::atMost($goal),
        );
    }
    return $rows;
}

/** @return list<Row> */
function attach_rows(): array
{
    $php = 'attach_php/microseconds';
    $core = 'attach_core/microseconds';
    return [
        new Row(
            'attach and first call, a new PHP process', 'microseconds', $php,
            goal: Goal::atMost(100),
        ),
        new Row(
            'attach and first call, a forked C process', 'microseconds', $core,
            goal: Goal::atMost(100),
        ),
    ];
}

function cost(string $title, string $product, string $peer, ?Goal $goal = null): Row
{
    return new Row($title, 'x its cost', $product, $peer, $goal);
}

function faster(string $title, string $slower, string $faster, ?Goal $goal = null): Row
{
    return new Row($title, 'x faster', $slower, $faster, $goal);
}

function throughput(string $title, string $figure, ?Goal $goal = null): Row
{
    return new Row($title, 'x throughput', "{$figure}_two", "{$figure}_one", $goal);
}

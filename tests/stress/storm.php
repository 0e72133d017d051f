<?php

declare(strict_types=1);

/*
 * storm.php FOLDER SEED - a worker of storm.c: everything that a page or a batch can do, until it
 * is killed.
 *
 * Values are those of storm.c: "NUMBER:LENGTH:SERIAL:" and one letter. Ends by itself, with a
 * message, only when something is wrong.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

const CHURNED = 500;
const EXPECTED = [
    BloomShm\Exception::TIMEOUT, BloomShm\Exception::NO_SPACE, BloomShm\Exception::NOT_FOUND,
    BloomShm\Exception::EXISTS, BloomShm\Exception::FULL, BloomShm\Exception::INCOMPATIBLE,
    BloomShm\Exception::IO, BloomShm\Exception::CORRUPT,
];

[, $folder, $seed] = $argv;
mt_srand((int) $seed);

function value(int $number): string
{
    $length = mt_rand(30, mt_rand(0, 15) === 0 ? 39_000 : 400);
    $serial = mt_rand(0, 999_999);
    return str_pad("$number:$length:$serial:", $length, chr(97 + ($number + $serial) % 26));
}

function must(bool $condition, string $what): void
{
    if (!$condition) {
        fwrite(STDERR, "storm.php: $what\n");
        exit(1);
    }
}

function check(mixed $value, int $number, string $what): void
{
    if ($value === null) {
        return;
    }
    must(is_string($value), "$what $number is no string");
    [$told, $length, $serial] = array_map(intval(...), explode(':', $value, 4));
    $expected = str_pad("$told:$length:$serial:", $length, chr(97 + ($told + $serial) % 26));
    must(
        $told === $number && $value === $expected,
        "$what $number has a value that was never stored",
    );
}

function keys(int $count): Generator
{
    $first = mt_rand(0, 10_000);
    for ($i = 0; $i < $count; $i++) {
        yield 'key ' . ($first + $i);
    }
}

/* What the next call is about. */
$at = new stdClass();
$calls = [
    // records
    fn () => check(bloom_cache_get($at->key), $at->number, 'churn'),
    fn () => bloom_cache_set($at->key, value($at->number), mt_rand(0, 3)),
    fn () => bloom_cache_add($at->key, value($at->number)),
    fn () => bloom_cache_replace($at->key, value($at->number)),
    fn () => bloom_cache_cas($at->key, bloom_cache_get($at->key), value($at->number)),
    fn () => bloom_cache_delete($at->key),
    fn () => bloom_cache_touch($at->key, mt_rand(0, 3)),
    fn () => bloom_cache_increment('php count ' . $at->number % 10),
    fn () => strlen((string) bloom_cache_get('php text')) > 4000
        ? bloom_cache_delete('php text')
        : bloom_cache_append('php text', 'x', ','),
    fn () => check(bloom_cache_remember($at->key, function () use ($at) {
        usleep(mt_rand(0, 300));
        return value($at->number);
    }), $at->number, 'remembered'),
    function () use ($at) {
        $numbers = array_map(fn ($i) => ($at->number + $i) % CHURNED, range(0, 19));
        shuffle($numbers);
        $keys = array_combine($numbers, array_map(fn ($number) => "churn $number", $numbers));
        $values = bloom_cache_remember_many($keys, function (array $asked) use ($keys) {
            usleep(mt_rand(0, 300));
            return array_combine(
                $asked, array_map(fn ($key) => value(array_search($key, $keys, true)), $asked),
            );
        });
        foreach ($values as $number => $value) {
            check($value, $number, 'remembered with others');
        }
    },
    fn () => bloom_cache_set_many([
        "php a {$at->number}" => [1, 'two', [3.5, null]],
        "php b {$at->number}" => new ArrayObject([$at->number]),
    ]),
    function () use ($at) {
        foreach (bloom_cache_get_many(["php a {$at->number}", "php b {$at->number}"]) as $value) {
            must(
                $value === null || $value === [1, 'two', [3.5, null]]
                    || $value == new ArrayObject([$at->number]),
                'an array changed',
            );
        }
    },
    fn () => mt_rand(0, 20) === 0 ? bloom_cache_clear("php a {$at->number}") : null,
    function () {
        $cursor = 0;
        do {
            bloom_cache_scan($cursor, 50, 'churn');
        } while ($cursor !== 0);
    },
    fn () => bloom_cache_info(),
    // filters
    fn () => must(bloom_maybe_has('golden', 'golden ' . mt_rand(0, 1999)), 'false negative'),
    fn () => bloom_reserve($at->name, mt_rand(1, 20_000), expansion: [0, 2][mt_rand(0, 1)]),
    fn () => bloom_reserve($at->name, 1000, window: 1),
    fn () => bloom_reserve($at->name, 1000, counting: true),
    fn () => bloom_add($at->name, "key {$at->number}"),
    fn () => bloom_add_many($at->name, iterator_to_array(keys(50), false)),
    fn () => bloom_insert($at->name, iterator_to_array(keys(50), false)),
    fn () => bloom_load($at->name, keys(mt_rand(1, 5000))),
    fn () => bloom_load($at->name, keys(1000), counting: true),
    fn () => bloom_remove($at->name, "key {$at->number}"),
    fn () => bloom_count($at->name, "key {$at->number}"),
    fn () => bloom_drop($at->name),
    fn () => bloom_clear($at->name),
    fn () => bloom_rename($at->name, $at->other),
    fn () => bloom_copy($at->name, $at->other),
    fn () => bloom_copy('golden', $at->other),
    fn () => bloom_merge($at->name, $at->other),
    fn () => bloom_dump($at->name, "$folder/php.dump"),
    fn () => bloom_restore($at->other, "$folder/php.dump"),
    fn () => bloom_info($at->name),
    fn () => bloom_list(),
    fn () => bloom_status(),
    // both
    fn () => must(
        bloom_fetch(
            'golden', "golden {$at->number}", fn (string $asked) => "title of $asked",
        ) === "title of golden {$at->number}",
        'fetched',
    ),
    function () use ($at) {
        $keys = array_map(fn ($i) => 'golden ' . ($at->number + $i) % CHURNED, range(0, 19));
        shuffle($keys);
        $titles = array_map(fn ($key) => "title of $key", $keys);
        $load = function (array $asked) use ($keys, $titles): array {
            usleep(mt_rand(0, 300));
            return array_intersect_key(array_combine($keys, $titles), array_flip($asked));
        };
        must(bloom_fetch_many('golden', $keys, $load) === $titles, 'fetched many');
    },
    fn () => must(
        bloom_fetch('golden', "nobody {$at->number}", fn () => null) === null,
        'fetched what is not there',
    ),
    fn () => bloom_forget('golden', "golden {$at->number}"),
];

while (true) {
    $at->number = mt_rand(0, CHURNED - 1);
    $at->key = "churn {$at->number}";
    $at->name = 'php ' . mt_rand(1, 8);
    $at->other = 'php ' . mt_rand(1, 8);
    try {
        $calls[mt_rand(0, count($calls) - 1)]();
    } catch (BloomShm\Exception $e) {
        must(in_array($e->getCode(), EXPECTED, true), get_class($e) . ' ' . $e->getMessage());
    }
}

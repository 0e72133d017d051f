<?php

/*
 * traffic.php - a busy segment, for the picture of `bloomshm top`: php traffic.php fill|ask SECONDS
 */

declare(strict_types=1);

/** name => [keys, share of the keys asked about that are there, questions in a round] */
const FILTERS = [
    'articles' => [4_000_000, 0.02, 4000],
    'session tokens' => [250_000, 0.35, 900],
    'blocked addresses' => [60_000, 0.001, 3000],
    'stock:warehouse-2' => [800_000, 0.6, 500],
    'coupons' => [12_000, 0.004, 250],
    'redirects' => [35_000, 0.05, 1400],
    'Wörter auf Deutsch' => [330_000, 0.92, 60],
    'product images' => [1_500_000, 0.1, 700],
    'seen:newsletter' => [90_000, 0.2, 120],
    'old-urls-2019' => [20_000, 0.0, 0],
];

function fill(): void
{
    foreach (FILTERS as $name => [$keys]) {
        $make = function () use ($keys) {
            for ($i = 0; $i < $keys; $i++) {
                yield "key $i";
            }
        };
        match ($name) {
            'session tokens' => bloom_reserve($name, 400_000, window: 1800),
            'stock:warehouse-2' => bloom_load($name, $make(), counting: true),
            'seen:newsletter' => bloom_reserve($name, 10_000),
            'old-urls-2019' => bloom_load($name, $make(), error_rate: 0.001, expansion: 0),
            default => bloom_load($name, $make(), error_rate: $keys > 1_000_000 ? 0.001 : 0.01),
        };
        if (in_array($name, ['session tokens', 'seen:newsletter'], true)) {
            bloom_add_many($name, array_map(fn ($i) => "key $i", range(0, $keys - 1)));
        }
    }
}

function ask(float $seconds): void
{
    $end = hrtime(true) + (int) ($seconds * 1e9);
    for ($round = 0; hrtime(true) < $end; $round++) {
        foreach (FILTERS as $name => [$keys, $there, $count]) {
            $count = (int) ($count * mt_rand(80, 120) / 100);
            for ($i = 0; $i < $count; $i++) {
                $known = mt_rand() / mt_getrandmax() < $there;
                bloom_maybe_has($name, ($known ? 'key ' : 'none ') . mt_rand(0, $keys - 1));
            }
        }
        for ($i = 0; $i < 600; $i++) {
            $key = 'page ' . (int) (60_000 * (mt_rand() / mt_getrandmax()) ** 3);
            if (bloom_cache_get($key) === null) {
                bloom_cache_set($key, str_repeat($key, 40));
            }
        }
        usleep(2000);
    }
}

match ($argv[1] ?? '') {
    'fill' => fill(),
    'ask' => ask((float) $argv[2]),
};

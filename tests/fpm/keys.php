<?php

/*
 * The keys that the page, the batch job and the clients of script/test-fpm agree on.
 *
 * Golden keys are in every generation of their pool's filter. Varying keys belong to one round of
 * the batch job.
 */

declare(strict_types=1);

const GOLDEN_KEYS = 200_000;
const VARYING_KEYS = 100_000;

function golden_key(string $pool, int $i): string
{
    return "golden/$pool/$i";
}

function varying_key(int $round, int $i): string
{
    return "varying/$round/$i";
}

/** @return list<string> */
function random_golden_keys(string $pool, int $count): array
{
    return array_map(fn () => golden_key($pool, mt_rand(0, GOLDEN_KEYS - 1)), range(1, $count));
}

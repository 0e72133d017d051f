<?php

declare(strict_types=1);

/*
 * keys.php - the keys of all measurements: 12 bytes, "tag:" for those in a filter, "non:" for
 * those that are not. bench_core.c and the key files of script/bench write the same ones.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

/** @return list<string> */
function present_keys(int $count, int $first = 0): array
{
    return numbered('tag:%08d', $count, $first);
}

/** @return list<string> */
function absent_keys(int $count): array
{
    return numbered('non:%08d', $count, 0);
}

/**
 * Copies of the keys in shuffled order, the same in every run. The copies lie in memory in
 * that order, as keys do that a page has just made; with `scattered` they are the given
 * strings, which lie in the order they were made.
 *
 * @param list<string> $keys
 * @return list<string>
 */
function shuffled(array $keys, bool $scattered = false): array
{
    mt_srand(20);
    shuffle($keys);
    return $scattered
        ? $keys
        : array_map(static fn (string $key): string => substr("$key.", 0, -1), $keys);
}

/** @return list<string> */
function numbered(string $format, int $count, int $first): array
{
    $keys = [];
    for ($i = $first; $i < $first + $count; $i++) {
        $keys[] = sprintf($format, $i);
    }
    return $keys;
}

<?php

declare(strict_types=1);

/*
 * pixiv.php - the way it was done before: a Bloom filter split into 8 kB partitions that lie in
 * APCu; the page fetches the partition of a key and tests six bits of it in PHP.
 *
 * Written for speed: one hash call gives the partition and all probes, the tests are unrolled.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

const PIXIV_KEYS_PER_PARTITION = 6500;

/**
 * @param list<string> $keys
 * @return int how many partitions were stored
 */
function pixiv_load(array $keys): int
{
    $count = (int) ceil(count($keys) / PIXIV_KEYS_PER_PARTITION);
    $partitions = array_fill(0, $count, str_repeat("\0", 8192));
    foreach ($keys as $key) {
        [1 => $number] = unpack('V', hash('xxh128', $key, true));
        $partition = $number * $count >> 32;
        foreach (unpack('v6', hash('xxh128', $key, true), 4) as $bit) {
            $byte = ord($partitions[$partition][$bit >> 3]) | 1 << ($bit & 7);
            $partitions[$partition][$bit >> 3] = chr($byte);
        }
    }
    foreach ($partitions as $number => $bits) {
        \apcu_store("articles:$number", $bits);
    }
    return $count;
}

function pixiv_maybe_has(string $key, int $partitions): bool
{
    $hash = \unpack('Vpartition/v6bit', \hash('xxh128', $key, true));
    $bits = \apcu_fetch('articles:' . ($hash['partition'] * $partitions >> 32));
    return \ord($bits[$hash['bit1'] >> 3]) >> ($hash['bit1'] & 7) & 1
        && \ord($bits[$hash['bit2'] >> 3]) >> ($hash['bit2'] & 7) & 1
        && \ord($bits[$hash['bit3'] >> 3]) >> ($hash['bit3'] & 7) & 1
        && \ord($bits[$hash['bit4'] >> 3]) >> ($hash['bit4'] & 7) & 1
        && \ord($bits[$hash['bit5'] >> 3]) >> ($hash['bit5'] & 7) & 1
        && \ord($bits[$hash['bit6'] >> 3]) >> ($hash['bit6'] & 7) & 1;
}

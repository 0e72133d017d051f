<?php

declare(strict_types=1);

/*
 * peer_growth.php - what growing from 100 keys at 1 % costs the peers: computed, not measured.
 *
 * All of them add filters, each so many times larger than the last, and halve the error rate each
 * time. RedisBloom and TairBloom halve it for the first one too; TairBloom makes each next filter
 * four times larger and rounds its bits up to a power of two. A filter of n keys at rate e takes
 * n log2(1/e) / ln 2 bits. For 10 million keys this gives what is known of them: 143, 42.8, 82.3
 * and 40.9 bits a key.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

const GROWN_FROM = 100;
const GROWN_RATE = 0.01;
const GROWN_TO = 10_000_000;

final readonly class GrowingPeer
{
    public function __construct(
        public string $name,
        private int $expansion,
        private bool $tightensFirst,
        private bool $roundsUp,
    ) {
    }

    public function bytes(int $keys): float
    {
        $capacity = GROWN_FROM;
        $rate = $this->tightensFirst ? GROWN_RATE / 2 : GROWN_RATE;
        $held = 0;
        $bytes = 0.0;
        while ($held < $keys) {
            $bits = $capacity * log(1 / $rate, 2) / log(2);
            $bytes += ($this->roundsUp ? 2 ** ceil(log($bits, 2)) : $bits) / 8;
            $held += $capacity;
            $capacity *= $this->expansion;
            $rate /= 2;
        }
        return $bytes;
    }
}

/** @return list<GrowingPeer> */
function growing_peers(): array
{
    return [
        new GrowingPeer('TairBloom', 4, true, true),
        new GrowingPeer('RedisBloom, x4', 4, true, false),
        new GrowingPeer('RedisBloom, x2', 2, true, false),
        new GrowingPeer('valkey-bloom, x2', 2, false, false),
    ];
}

/** @return list<int> 1,000 keys, twice as many, ... */
function growth_sizes(int $most): array
{
    $sizes = [];
    for ($keys = $most; $keys >= 1000; $keys = intdiv($keys, 2)) {
        array_unshift($sizes, $keys);
    }
    return $sizes;
}

/** What TairBloom documents for reserved filters, in megabytes, and what ours shall take. */
function reserved_cases(): array
{
    return [
        ['1M', '1', 2, 1.29],
        ['10M', '1', 16, 12.81],
        ['10M', '0.1', 32, 19.0],
        ['10M', '0.01', 32, 25.5],
        ['100M', '1', 128, 128.1],
        ['1000M', '1', 2048, 1281],
        ['1000M', '0.01', 4096, 2551],
    ];
}

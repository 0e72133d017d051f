<?php

declare(strict_types=1);

/*
 * ask_redis.php SOCKET - one question over a unix socket: phpredis GET of a key that is there.
 *
 * Half of the answer's time is the kernel waking up the other process, and that costs ten
 * times more across CPUs than within one; so plan.php pins this process to the server's CPU,
 * and to another.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

const KEYS = 1_000;

$keys = present_keys(KEYS);
$redis = new \Redis();
$redis->connect($argv[1]);
$redis->mSet(array_fill_keys($keys, 1));
must($redis->get($keys[KEYS - 1]) === '1', 'Redis lost its last key');

$get = static function (array $keys) use ($redis): void {
    foreach ($keys as $key) {
        $redis->get($key);
    }
};
report(nanoseconds_per_key(['get' => new Loop($get, $keys, KEYS, waits: true)], passes: 5));

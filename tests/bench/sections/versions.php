<?php

declare(strict_types=1);

/*
 * versions.php SOCKET - what is compared with what. Fails when a peer is not there; Yac may be
 * missing, and is then not named.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

foreach (['bloomshm', 'apcu', 'redis'] as $extension) {
    must(extension_loaded($extension), "the PHP extension $extension could not be loaded");
}
$redis = new \Redis();
$redis->connect($argv[1]);

report(array_filter([
    'php' => PHP_VERSION,
    'bloomshm' => phpversion('bloomshm'),
    'apcu' => phpversion('apcu'),
    'yac' => phpversion('yac'),
    'phpredis' => phpversion('redis'),
    'redis' => $redis->info('server')['redis_version'],
]));

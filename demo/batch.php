<?php

/*
 * batch.php - the batch job: every tag that has an article goes into the filter `articles`.
 */

declare(strict_types=1);

$pdo = new PDO(getenv('DEMO_DSN') ?: 'sqlite:' . __DIR__ . '/var/demo.sqlite');

$info = bloom_load('articles', $pdo->query('SELECT tag FROM article'));

printf(
    "%s keys in %s bytes (%.1f bits a key), %.2f %% wrong maybes, loaded in %.2f s: %s keys/s\n",
    number_format($info['keys']),
    number_format($info['bytes']),
    $info['bits_per_key'],
    100 * $info['estimated_error_rate'],
    $info['seconds'],
    number_format($info['keys'] / $info['seconds']),
);

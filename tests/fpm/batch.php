<?php

/*
 * The batch job of script/test-fpm: publishes the filter again and again until it is stopped or
 * killed.
 *
 * usage: batch.php DATABASE ROUND-FILE STOP-FILE
 */

declare(strict_types=1);

require __DIR__ . '/keys.php';

/**
 * The database is read here, while the load runs: a key that comes too late for this loop is added
 * during the load.
 */
function articles(string $database, int $round): Generator
{
    $lines = new SplFileObject($database);
    $lines->setFlags(
        SplFileObject::READ_AHEAD | SplFileObject::SKIP_EMPTY | SplFileObject::DROP_NEW_LINE,
    );
    yield from $lines;
    for ($i = 0; $i < VARYING_KEYS; $i++) {
        yield varying_key($round, $i);
    }
}

/** Each way to load, and each kind of size hint, in turn. */
function publish(string $database, int $round): array
{
    return match ($round % 4) {
        0 => bloom_load_file('articles', $database),
        1 => bloom_load('articles', articles($database, $round)),
        2 => bloom_load('articles', articles($database, $round), capacity: 1000),
        3 => bloom_load('articles', articles($database, $round), capacity: 4 * GOLDEN_KEYS),
    };
}

[, $database, $roundFile, $stopFile] = $argv;
$round = (int) file_get_contents($roundFile);
while (!file_exists($stopFile)) {
    file_put_contents("$roundFile.new", (string) ++$round);
    rename("$roundFile.new", $roundFile);
    publish($database, $round);
}

<?php

/*
 * The page of the site in script/test-fpm: what the web workers do.
 *
 *   page     asks 20 golden keys, and fails (500) when one is answered with "no"
 *   ask      answers the posted list of keys, in one call and one by one
 *   add      adds the posted key: first to the database, then to the filter
 *   status   tells what this worker sees
 */

declare(strict_types=1);

require __DIR__ . '/keys.php';

const FILTER = 'articles';

function page(string $pool): array
{
    $answers = bloom_maybe_has_many(FILTER, random_golden_keys($pool, 20));
    if (in_array(false, $answers, true)) {
        throw new LogicException('a golden key was answered with "no"');
    }
    return $answers;
}

/** @param list<string> $keys */
function ask(array $keys): array
{
    $info = bloom_info(FILTER) ?? throw new LogicException('the filter is missing');
    return [
        'pid' => getmypid(),
        'path' => bloom_status()['path'],
        'generation' => $info['generation'],
        'error_rate' => $info['estimated_error_rate'],
        'together' => bloom_maybe_has_many(FILTER, $keys),
        'one_by_one' => array_map(fn (string $key) => bloom_maybe_has(FILTER, $key), $keys),
    ];
}

/**
 * Database first: a load that does not read the key any more is then running when it is added, and
 * keeps it. The leading newline separates it from a line that a killed worker left unfinished.
 */
function add(string $database, string $key): array
{
    file_put_contents($database, "\n$key\n", FILE_APPEND);
    // The lock may be held for too long while a load runs on a busy machine: then the page adds
    // again.
    for ($tries = 1;; $tries++) {
        try {
            return ['new' => bloom_add(FILTER, $key)];
        } catch (BloomShm\Exception $e) {
            if ($e->getCode() !== BloomShm\Exception::TIMEOUT || $tries === 100) {
                throw $e;
            }
        }
    }
}

function status(): array
{
    return [
        'pid' => getmypid(), 'list' => bloom_list(), 'info' => bloom_info(FILTER),
        'status' => bloom_status(),
    ];
}

$posted = json_decode(file_get_contents('php://input') ?: 'null', true, flags: JSON_THROW_ON_ERROR);
$answer = match ($_SERVER['PAGE']) {
    'page' => page($_SERVER['POOL']),
    'ask' => ask($posted),
    'add' => add($_SERVER['DATABASE'], $posted),
    'status' => status(),
};

header('Content-Type: application/json');
echo json_encode($answer, JSON_THROW_ON_ERROR);

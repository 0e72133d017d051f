<?php

/*
 * Asks the site of script/test-fpm for every key that it must know.
 *
 * usage: survey.php WHAT SITE-URL POOL ADDED-FILE...
 */

declare(strict_types=1);

require __DIR__ . '/keys.php';
require __DIR__ . '/site.php';

[, $what, $url, $pool] = $argv;
$keys = array_map(fn (int $i) => golden_key($pool, $i), range(0, GOLDEN_KEYS - 1));
foreach (array_slice($argv, 4) as $file) {
    array_push($keys, ...file($file, FILE_IGNORE_NEW_LINES));
}

$site = new Site($url);
$lost = [];
foreach (array_chunk($keys, 5000) as $chunk) {
    $answers = $site->post('ask', $chunk)['one_by_one'];
    foreach (array_keys($answers, false, true) as $i) {
        $lost[] = $chunk[$i];
    }
}
check("$what: pool $pool still has all of its " . count($keys) . ' keys', $lost);

<?php

/*
 * page.php - a page of tests/zts/apache: asks keys of a filter that is republished meanwhile, and
 * reads records that belong to their keys. Any fault is a status of 500.
 */

declare(strict_types=1);

const KEYS = 2000; // publish.php publishes all of them, each time with others

$fault = null;
$keys = array_map(fn () => 'key ' . mt_rand(1, KEYS), range(1, 50));
foreach (bloom_maybe_has_many('site', $keys) as $answer) {
    $answer || $fault = 'a published key is denied';
}
$key = 'page-' . mt_rand(1, 50);
$value = bloom_cache_get($key);
$sum = is_array($value) ? md5($key . $value['number']) : null;
if ($value !== null && ($sum === null || $value['key'] !== $key || $value['sum'] !== $sum)) {
    $fault = "the record $key is another's";
}
$number = mt_rand();
bloom_cache_set($key, ['key' => $key, 'number' => $number, 'sum' => md5($key . $number)]);
http_response_code($fault === null ? 200 : 500);
echo $fault ?? 'sound', "\n";
$fault === null || error_log($fault);

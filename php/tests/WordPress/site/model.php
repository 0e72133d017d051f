<?php

declare(strict_types=1);

/*
 * Prints the results of 20,000 random calls of the object cache.
 *
 *     php model.php FILE SEED
 *
 * FILE is the drop-in, or wp-includes/cache.php of WordPress: both must print the same.
 */
require __DIR__ . '/../functions.php';
[, $file, $seed] = $argv;
define('ABSPATH', dirname($file, 2) . '/');
define('WPINC', basename(dirname($file)));
$GLOBALS['wordpress'] = ['multisite' => $seed % 2 === 1, 'suspended' => false, 'reports' => []];
require $file;
mt_srand((int) $seed);
wp_cache_init();
wp_cache_add_global_groups(['users', 'sites']);
wp_cache_add_non_persistent_groups(['counts']);
wp_cache_flush();

$one = static fn(array $of): mixed => $of[mt_rand(0, count($of) - 1)];
$key = static fn(): mixed => $one([1, 2, '1', '02', 'a', 'b', 'a:b', '2:1', 'k 1', ' x', -1]);
$group = static fn(): mixed => $one(['', 'default', 'posts', 'users', 'counts', 'a:b', '7', null]);
$value = static fn(): mixed => $one([
    0, 1, -3, 2.5, '4', '', 'text', null, true, false, [], ['a' => [1]], (object) ['a' => 1],
]);
for ($i = 0; $i < 20_000; ++$i) {
    $verb = $one([
        'add', 'set', 'get', 'get', 'get', 'replace', 'delete', 'incr', 'decr', 'add_multiple',
        'set_multiple', 'get_multiple', 'delete_multiple', 'flush_group', 'flush', 'blog',
        'suspend', 'wrong',
    ]);
    $found = 'untouched';
    $result = match ($verb) {
        'add', 'set', 'replace' => ("wp_cache_$verb")($key(), $value(), $group(), $one([0, 600])),
        'get' => [wp_cache_get($key(), $group(), mt_rand(0, 1) === 1, $found), $found],
        'delete' => wp_cache_delete($key(), $group()),
        'incr', 'decr' => ("wp_cache_$verb")($key(), mt_rand(-2, 5), $group()),
        'add_multiple', 'set_multiple' => ("wp_cache_$verb")([
            $key() => $value(), $key() => $value(), $key() => $value(),
        ], $group()),
        'get_multiple', 'delete_multiple' => ("wp_cache_$verb")([$key(), $key(), $key()], $group()),
        'flush_group' => mt_rand(0, 9) > 0 || wp_cache_flush_group($one(['posts', 'users', 'a:b'])),
        'flush' => mt_rand(0, 99) > 0 || wp_cache_flush(),
        'blog' => wp_cache_switch_to_blog(mt_rand(1, 3)),
        'suspend' => $GLOBALS['wordpress']['suspended'] = mt_rand(0, 3) === 0,
        'wrong' => wp_cache_get($one(['', ' ', null, false, 0.5]), $group(), false, $found),
    };
    echo $i, ' ', $verb, ' ', serialize([$result, $found]), "\n";
}
echo $wp_object_cache->cache_hits, ' ', $wp_object_cache->cache_misses, "\n";
echo count($GLOBALS['wordpress']['reports']), "\n";

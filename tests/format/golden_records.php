<?php

/*
 * Records of fixed keys and values, of every type that needs no other extension:
 *
 *   golden_records.php dump FILE          puts them into an empty store, and dumps that to FILE
 *   golden_records.php say FILE           writes what they are: compare_records.php
 *   golden_records.php restore FILE TO    restores FILE, compares what is there then, and dumps it
 *   to TO
 *
 * tests/data/records.bloom-records is what this wrote when the format was fixed. A new version of
 * the format adds a file; it does not change this one.
 */

declare(strict_types=1);

const TTL = 315_360_000; // ten years: 'expiring' is gone from the golden file in 2036

$values = [
    'null' => null,
    'false' => false,
    'true' => true,
    'int' => -1234567890123456789,
    'float' => 0.1,
    'string' => 'text',
    '' => 'the empty key',
    "\0bytes\xff" => "\0\1\2\xfd\xfe\xff",
    'list' => [1, 'two', [3.5, null]],
    'object' => (object) ['property' => true],
    str_repeat('key ', 100) => '',
    'large' => str_repeat('0123456789abcdef', 300),
    'expiring' => 'later',
];

function fail(string $what): never
{
    echo "$what\n";
    exit(1);
}

[, $mode, $file] = $argv;
if ($mode === 'dump') {
    foreach ($values as $key => $value) {
        bloom_cache_set($key, $value, $key === 'expiring' ? TTL : 0);
    }
    bloom_cache_get('string'); // was used again
    bloom_cache_dump($file) === count($values) || fail('not all were dumped');
} elseif ($mode === 'say') {
    $out = fopen($file, 'w');
    foreach ($values as $key => $value) {
        fwrite($out, json_encode([
            'space' => 0,
            'key' => bin2hex($key),
            'value' => bin2hex(serialize($value)),
            'least' => (int) ($key === 'expiring'),
            'most' => $key === 'expiring' ? PHP_INT_MAX : 0,
        ]) . "\n");
    }
} else {
    $restored = bloom_cache_restore($file);
    $restored === count($values) || fail("$restored were restored");
    bloom_cache_dump($argv[3]) === $restored || fail('not all were dumped again');
    foreach ($values as $key => $value) {
        serialize(bloom_cache_get($key, 'absent')) === serialize($value)
            || fail("another value: $key");
    }
    bloom_cache_restore($file) === 0 || fail('some were restored twice');
}

<?php

/*
 * Fills the segment at bloomshm.path with filters of all sorts, and writes to the directory given:
 *
 *   questions.txt  "NAME KEY" in hex, a line each
 *   answers.txt    the extension's answers to them: "maybe" or "no"
 *   present.txt    the questions whose keys were added: "no" would be wrong
 *   filters.json   bloom_info() of every filter
 *   records.json   the records that were stored: compare_records.php
 *   absent.txt     keys, in hex, of records that there are not
 */

declare(strict_types=1);

/* Keys of every length that XXH3 treats in a way of its own (0, 1-3, 4-8, 9-16, 17-128, 129-240,
 * more), any bytes. */
function keys(string $set, int $count): array
{
    $keys = [''];
    for ($i = 1; $i < $count; $i++) {
        $bytes = hash('sha512', "$set $i", true) . str_repeat("\0\xff$set $i", 40);
        $keys[] = $i % 97 === 0
            ? substr($bytes, 0, 1 + $i % 3)
            : pack('V', $i) . substr($bytes, 0, $i * 37 % 400);
    }
    return $keys;
}

/* Makes holes of a few partitions all over the memory, so that what is loaded next lies
 * scattered. */
function fragment(): void
{
    $pieces = 0;
    for ($free = intdiv(bloom_status()['filter_bytes_free'], 8192); $free > 0; $free -= $size) {
        $size = min($free, 1 + $pieces % 3);
        bloom_reserve('piece ' . $pieces++, $size * 6000, expansion: 0);
    }
    for ($i = 0; $i < $pieces; $i++) {
        if ($i % 4 !== 0) {
            bloom_drop("piece $i");
        }
    }
}

function write_lines(string $path, iterable $lines): void
{
    $file = fopen($path, 'w');
    foreach ($lines as $line) {
        fwrite($file, "$line\n");
    }
    fclose($file);
}

$directory = $argv[1];
$long_name = "\u{3042}" . str_repeat('long', 15);

bloom_load('one percent', keys('a', 3000), 0.01);
bloom_load('a tenth of a percent', keys('b', 3000), 0.001);
bloom_load('one in a million', keys('c', 3000), 1e-6);
bloom_load('every other', keys('d', 500), 0.5, expansion: 0);
bloom_load($long_name, keys('e', 1000), 0.05);
bloom_reserve('added to', 5000, 0.0001, expansion: 0, seed: 'a seed');
bloom_add_many('added to', keys('f', 2000));
bloom_load('old name', keys('g', 1000));
bloom_rename('old name', 'renamed');
bloom_load('original', keys('h', 1000), 0.001, seed: 'another seed');
bloom_copy('original', 'copied');
bloom_load('loaded twice', keys('old', 20000), 0.001);
bloom_load('loaded twice', keys('i', 1000));
bloom_load('cleared', keys('j', 1000));
bloom_clear('cleared');
bloom_reserve('empty', 1, expansion: 0);
bloom_insert('grown', keys('n', 20000));
bloom_insert('grown by four', keys('o', 20000), 10, 0.3, 4);
bloom_reserve('sliding', 3000, window: 36_000_000);
bloom_add_many('sliding', keys('p', 3000));
bloom_clear('sliding');
bloom_add_many('sliding', keys('q', 3000));
bloom_load('counting', [...keys('r', 3000), ...keys('r', 1000)], counting: true);
bloom_copy('grown', 'grown, copied');
bloom_load('dropped', keys('k', 1000));
bloom_drop('dropped');
fragment();
bloom_load('scattered', keys('l', 40000), 0.01, expansion: 0);
bloom_load('scattered, one in a million', keys('m', 20000), 1e-6, expansion: 0);

$added = [
    'one percent' => keys('a', 3000),
    'a tenth of a percent' => keys('b', 3000),
    'one in a million' => keys('c', 3000),
    'every other' => keys('d', 500),
    $long_name => keys('e', 1000),
    'added to' => keys('f', 2000),
    'renamed' => keys('g', 1000),
    'copied' => keys('h', 1000),
    'loaded twice' => keys('i', 1000),
    'grown' => keys('n', 20000),
    'grown by four' => keys('o', 5000),
    'grown, copied' => keys('n', 2000),
    'sliding' => keys('q', 3000),
    'counting' => keys('r', 3000),
    'scattered' => keys('l', 3000),
    'scattered, one in a million' => keys('m', 3000),
];
$present = [];
$questions = [];
$answers = [];
foreach ($added as $name => $keys) {
    foreach ($keys as $key) {
        $present[] = bin2hex($name) . ' ' . bin2hex($key);
    }
}
foreach ([...array_keys($added), 'old name', 'cleared', 'empty', 'dropped', 'missing'] as $name) {
    foreach ([...$added[$name] ?? [], ...keys("absent from $name", 2000)] as $key) {
        $questions[] = bin2hex($name) . ' ' . bin2hex($key);
        $answers[] = bloom_maybe_has($name, $key) ? 'maybe' : 'no';
    }
}
write_lines("$directory/present.txt", $present);
write_lines("$directory/questions.txt", $questions);
write_lines("$directory/answers.txt", $answers);

/* ---------------------------------------------------------------- records */

$records = [];

function expect_record(string $key, mixed $value, int $ttl = 0, int $space = 0): void
{
    global $records;
    $now = time();
    $records["$space$key"] = [
        'space' => $space,
        'key' => bin2hex($key),
        'value' => bin2hex($space === 1 && $value === null ? 'nothing' : serialize($value)),
        'least' => $ttl === 0 ? 0 : $now + $ttl - 1,
        'most' => $ttl === 0 ? 0 : $now + $ttl + 2,
    ];
}

function put(string $key, mixed $value, int $ttl = 0): void
{
    if (!bloom_cache_set($key, $value, $ttl)) {
        throw new Exception("not stored: $key");
    }
    expect_record($key, $value, $ttl);
}

$text = '';
while (strlen($text) < 300_000) {
    $text .= hash('sha512', (string) strlen($text), true);
}
$values = [
    'null' => null, 'false' => false, 'true' => true, 'zero' => 0, 'one' => 1, 'minus one' => -1,
    'most' => PHP_INT_MAX,
    'least' => PHP_INT_MIN, 'half' => 0.5, 'minus nought' => -0.0, 'infinite' => -INF,
    'no number' => NAN,
    'smallest' => PHP_FLOAT_EPSILON, 'empty' => '', 'text' => 'text',
    '100 kB' => substr($text, 0, 100_000),
    '300 kB' => substr($text, 0, 300_000), 'none' => [], 'list' => [1, [2, 3], 'four'],
    'map' => ['a' => null, 5 => 1.5],
    'object' => (object) ['property' => "\0\xff"], 'large list' => range(1, 5000),
    '' => 'the empty key',
    "\0bytes\xff" => 'any bytes', str_repeat('k', 9000) => 'a key of 9,000 bytes',
    str_repeat('l', 65535) => null,
    str_repeat('m', 9001) => substr($text, 7, 20_000), str_repeat('n', 255) => 'n',
    str_repeat('o', 4095) => '',
    str_repeat('p', 4096) => '',
];
foreach ($values as $key => $value) {
    put((string) $key, $value);
    put(substr("for an hour, $key", 0, 65535), $value, 3600);
}
for ($length = 0; $length < 12_400; $length += $length < 160 ? 1 : 29) { // all classes
    put("of $length", substr($text, $length, $length));
    put("of $length, for a day", substr($text, $length, $length), 86400);
}
// key and value
foreach (
    [
        4072, 4076, 4079, 4080, 4081, 4084, 4088, 4089, 8151, 8152, 8153, 8175, 8176, 8177, 12248,
        12249, 12256, 12257, 16328, 16329,
    ] as $bytes
) {
    for ($around = -5; $around <= 5; $around++) {
        put("$bytes", substr($text, 0, $bytes + $around - strlen("$bytes")));
        put("$bytes $around", substr($text, 0, $bytes + $around - strlen("$bytes $around")));
        put(
            "$bytes, $around", substr($text, 0, $bytes + $around - strlen("$bytes, $around")),
            100_000,
        );
    }
}
for ($i = 0; $i < 20_000; $i++) { // tables that have grown, and full lines
    put("number $i", $i);
}
$absent = [];
for ($i = 0; $i < 20_000; $i += 7) {
    bloom_cache_delete("number $i");
    unset($records["0number $i"]);
    $absent[] = bin2hex("number $i");
    $absent[] = bin2hex("missing $i");
}
for ($i = 1; $i < 20_000; $i += 7) {
    put("number $i", "another $i");
}
bloom_cache_touch('text', 5000);
expect_record('text', 'text', 5000);
bloom_cache_touch('for an hour, text', 0);
expect_record('for an hour, text', 'text');
bloom_cache_append('empty', substr($text, 0, 5000));
expect_record('empty', substr($text, 0, 5000));
bloom_cache_increment('one', 41);
expect_record('one', 42);
bloom_cache_get('list');

bloom_reserve('fetched', 1000);
bloom_add('fetched', 'known');
bloom_add('fetched', 'unknown');
bloom_fetch('fetched', 'known', fn (string $key): array => [$key]);
bloom_fetch('fetched', 'unknown', fn (string $key): mixed => null, 600);
expect_record("\x07fetchedknown", ['known'], 0, 1);
expect_record("\x07fetchedunknown", null, 600, 1);
if (bloom_cache_info()['evictions'] !== 0) {
    throw new Exception('too many records for the store');
}
write_lines("$directory/absent.txt", $absent);
unset($present, $questions, $answers, $added);
write_lines("$directory/records.json", (function () use ($records): Generator {
    foreach ($records as $record) {
        yield json_encode($record, JSON_THROW_ON_ERROR);
    }
})());
$filters = array_map(bloom_info(...), bloom_list());
file_put_contents("$directory/filters.json", json_encode($filters, JSON_THROW_ON_ERROR));

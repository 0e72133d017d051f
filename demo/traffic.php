<?php

/*
 * traffic.php - a republish in the middle of traffic: php traffic.php 127.0.0.1:8080 COMMAND...
 *
 * Takes away the article of every second tag of some works, or writes one where there is none, and
 * runs COMMAND, the batch job, while it fetches the pages of these works, several at once. No page
 * may be wrong: each must be exactly what it was before the batch or what it is after it, and none
 * may be the old one again once a new one was seen; before and after, no tag that has an article
 * may be answered with "no".
 */

declare(strict_types=1);

const WORKS = 64;
const AT_ONCE = 4;
const SECONDS_AROUND = 0.5;
const SECONDS_AT_MOST = 600.0;

function fail(string $message): never
{
    fwrite(STDERR, "$message\n");
    exit(1);
}

/**
 * The pages of these works, asked for at the same time: work => the answers about its tags, "1"
 * maybe and "0" no.
 *
 * @param list<string> $works
 * @return array<string, string>
 */
function fetchAtOnce(string $server, array $works): array
{
    $connections = $pages = [];
    foreach ($works as $work) {
        $connections[$work] = @stream_socket_client("tcp://$server")
            ?: fail("$server does not answer");
        fwrite(
            $connections[$work], 'GET /?format=json&work=' . urlencode($work) . " HTTP/1.0\r\n\r\n",
        );
    }
    foreach ($connections as $work => $connection) {
        [$head, $body] = explode("\r\n\r\n", stream_get_contents($connection), 2) + ['', ''];
        $page = json_decode($body, true)
            ?? fail("the page of $work failed: " . strtok($head, "\r\n"));
        $pages[$work] = implode('', array_map(intval(...), $page['maybe']));
    }
    return $pages;
}

/** @return array<string, string> the same for any number of works */
function fetchAll(string $server, array $works): array
{
    return array_merge(
        ...array_map(fn ($some) => fetchAtOnce($server, $some), array_chunk($works, AT_ONCE)),
    );
}

/** Fetches round after round until $done, which is given the seconds that have passed. */
function fetchUntil(callable $done, string $server, array $works): array
{
    $rounds = [];
    $start = microtime(true);
    while (!$done(microtime(true) - $start)) {
        foreach (array_chunk($works, AT_ONCE) as $some) {
            $rounds[] = fetchAtOnce($server, $some);
        }
    }
    return $rounds;
}

/**
 * @return array<string, string> what a filter without errors would answer about the tags of each
 *     work
 */
function truth(PDO $pdo, array $tags): array
{
    $article = $pdo->prepare('SELECT count(*) FROM article WHERE tag = ?');
    $has = function (string $tag) use ($article): string {
        $article->execute([$tag]);
        return (string) $article->fetchColumn();
    };
    return array_map(fn ($list) => implode('', array_map($has, explode(' ', $list))), $tags);
}

/** Takes away or writes an article for every second of these tags. */
function changeArticles(PDO $pdo, array $tags): void
{
    $delete = $pdo->prepare('DELETE FROM article WHERE tag = ?');
    $insert = $pdo->prepare('INSERT INTO article VALUES (?, ?)');
    $deleted = $inserted = 0;
    $pdo->beginTransaction();
    foreach ($tags as $position => $tag) {
        if ($position % 2 === 0) {
            continue;
        }
        $delete->execute([$tag]);
        if ($delete->rowCount() > 0) {
            $deleted++;
        } else {
            $insert->execute([$tag, 'a new article']);
            $inserted++;
        }
    }
    $pdo->commit();
    echo "articles: $deleted taken away, $inserted written\n";
}

/**
 * Runs the batch job with traffic before, all the while, and after: the rounds of pages that were
 * fetched.
 */
function republish(array $command, string $server, array $works): array
{
    $shortly = fn (float $seconds) => $seconds > SECONDS_AROUND;
    $rounds = fetchUntil($shortly, $server, $works);

    $batch = proc_open($command, [], $pipes) ?: fail("cannot run $command[0]");
    $ended = function (float $seconds) use ($batch, &$status): bool {
        $status = proc_get_status($batch);
        return !$status['running'] || $seconds > SECONDS_AT_MOST;
    };
    array_push($rounds, ...fetchUntil($ended, $server, $works));
    if ($status['running']) {
        proc_terminate($batch);
        fail('the batch job took more than ' . SECONDS_AT_MOST . ' seconds');
    }
    if ($status['exitcode'] !== 0) {
        fail('the batch job failed');
    }

    return [...$rounds, ...fetchUntil($shortly, $server, $works)];
}

function checkAnswers(array $pages, array $truth, array $tags, string $when): void
{
    $absent = [];
    foreach ($truth as $work => $articles) {
        if (($pages[$work] & $articles) !== $articles) {
            fail("$when, the page of $work says \"no\" about a tag that has an article: $pages[$work], not $articles");
        }
        foreach (explode(' ', $tags[$work]) as $position => $tag) {
            if ($articles[$position] === '0') {
                $absent[$tag] = (int) $pages[$work][$position];
            }
        }
    }
    [$maybe, $all] = [array_sum($absent), count($absent)];
    if ($maybe > $all / 10) {
        fail("$when, $maybe of $all tags without an article are answered with \"maybe\"");
    }
    echo "$when: no false \"no\"; $maybe of $all tags without an article are answered with \"maybe\"\n";
}

function checkOldOrNew(array $rounds, array $before, array $after): void
{
    $old = $new = 0;
    foreach ($rounds as $round) {
        $newBefore = $new;
        foreach ($round as $work => $page) {
            if ($page === $after[$work]) {
                $new += (int) ($page !== $before[$work]);
            } elseif ($page !== $before[$work]) {
                fail("a page of $work was neither the old nor the new one: $page, not $before[$work] or $after[$work]");
            } elseif ($newBefore > 0) {
                fail("the page of $work was the old one again after a new one had been seen");
            } else {
                $old++;
            }
        }
    }
    if ($old === 0 || $new === 0) {
        fail("the pages did not change: $old old ones, $new new ones");
    }
    printf(
        "pages around the publishing: %s old, then %s new, 0 wrong\n", number_format($old),
        number_format($new),
    );
}

$server = $argv[1];
$command = array_slice($argv, 2);
$pdo = new PDO(getenv('DEMO_DSN') ?: 'sqlite:' . __DIR__ . '/var/demo.sqlite');
$tags = $pdo->query(
    'SELECT name, tags FROM work WHERE id % 100 = 0 LIMIT ' . WORKS,
)->fetchAll(PDO::FETCH_KEY_PAIR);
$works = array_keys($tags);

$before = fetchAll($server, $works);
checkAnswers($before, truth($pdo, $tags), $tags, 'before');
changeArticles($pdo, array_values(array_unique(explode(' ', implode(' ', $tags)))));
$rounds = republish($command, $server, $works);
$after = fetchAll($server, $works);
checkAnswers($after, truth($pdo, $tags), $tags, 'after');
checkOldOrNew($rounds, $before, $after);

<?php

/*
 * page.php - the page of a work: its tags, and the article behind each tag that has one.
 *
 * Titles come through bloom_fetch_many(): the database is asked once, for all tags of the page that
 * the filter may have and no page has shown before. The second view of a page asks it for no title.
 * The question before that only shows what the filter says, and how long it takes.
 */

declare(strict_types=1);

$pdo = new PDO(getenv('DEMO_DSN') ?: 'sqlite:' . __DIR__ . '/var/demo.sqlite');

$find = $pdo->prepare('SELECT * FROM work WHERE name = ?');
$find->execute([filter_input(INPUT_GET, 'work') ?: 'openttd']);
$work = $find->fetch();
if ($work === false) {
    http_response_code(404);
    exit("There is no such work.\n");
}

$tags = explode(' ', $work['tags']);
$start = hrtime(true);
$maybe = bloom_maybe_has_many('articles', $tags);
$nanoseconds = hrtime(true) - $start;

$asked = 0;
$titles = bloom_fetch_many('articles', $tags, function (array $open) use ($pdo, &$asked): array {
    $asked++;
    $places = implode(', ', array_fill(0, count($open), '?'));
    $article = $pdo->prepare("SELECT tag, title FROM article WHERE tag IN ($places)");
    $article->execute($open);
    // One in a hundred tags without an article gets this far, once: it is not in the result.
    return $article->fetchAll(PDO::FETCH_KEY_PAIR);
}, ttl: 3600);

if (filter_input(INPUT_GET, 'format') === 'json') {
    header('Content-Type: application/json');
    exit(json_encode([
        'maybe' => array_combine($tags, $maybe),
        'nanoseconds' => $nanoseconds,
        'titles' => count(array_filter($titles)),
        'database_asked' => $asked,
    ]) . "\n");
}

$last = $pdo->query('SELECT max(id) FROM work')->fetchColumn();
$link = fn (int $id) => '?work='
    . urlencode($pdo->query("SELECT name FROM work WHERE id = $id")->fetchColumn());
$html = fn (string $text) => htmlspecialchars($text);
?>
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title><?= $html($work['name']) ?></title>
<style>
    body { font: 1.1rem/1.6 sans-serif; color: #333 }
    body { max-width: 46rem; margin: 3rem auto; padding: 0 1rem }
    ul { padding: 0 }
    li { display: inline-block; margin: .2rem; padding: 0 .7rem; border-radius: 1rem }
    li { background: #eee; color: #777 }
    .maybe { background: #d8f0dc; color: #064 }
</style>
<h1><?= $html($work['name']) ?></h1>
<p><?= $html($work['summary']) ?></p>
<ul>
<?php foreach ($tags as $i => $tag) : ?>
    <li class="<?= $maybe[$i] ? 'maybe' : 'no' ?>"><?= $html($tag) ?> <b lang="ja"><?= $html($titles[$i] ?? '') ?></b></li>
<?php endforeach ?>
</ul>
<p><?= array_sum($maybe) ?> of <?= count($tags) ?> tags may have an article,
<?= count(array_filter($titles)) ?> have one. The <?= count($tags) ?> questions took
<?= number_format($nanoseconds / 1000, 1) ?> microseconds together.
For the titles the database was asked <?= $asked === 0
    ? 'nothing: they were kept from an earlier view' : 'once' ?>.</p>
<p><a href="<?= $link($work['id'] % $last + 1) ?>">next work</a> ·
<a href="<?= $link(random_int(1, $last)) ?>">random work</a> · <a href="/status">status</a></p>

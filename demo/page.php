<?php

/*
 * page.php - the page of a work: its tags, and the article behind each tag that has one.
 *
 * The filter answers for all tags at once; the database is asked only where it said maybe.
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

if (filter_input(INPUT_GET, 'format') === 'json') {
    header('Content-Type: application/json');
    exit(json_encode(['maybe' => array_combine($tags, $maybe), 'nanoseconds' => $nanoseconds]) . "\n");
}

$article = $pdo->prepare('SELECT title FROM article WHERE tag = ?');
$titles = [];
foreach (array_keys($maybe, true, true) as $i) {
    $article->execute([$tags[$i]]);
    $titles[$i] = $article->fetchColumn() ?: '?'; // one in a hundred tags without an article gets this far
}

$last = $pdo->query('SELECT max(id) FROM work')->fetchColumn();
$link = fn (int $id) => '?work=' . urlencode($pdo->query("SELECT name FROM work WHERE id = $id")->fetchColumn());
$html = fn (string $text) => htmlspecialchars($text);
?>
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title><?= $html($work['name']) ?></title>
<style>
    body { font: 1.1rem/1.6 sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem; color: #333 }
    ul { padding: 0 }
    li { display: inline-block; margin: .2rem; padding: 0 .7rem; border-radius: 1rem; background: #eee; color: #777 }
    .maybe { background: #d8f0dc; color: #064 }
</style>
<h1><?= $html($work['name']) ?></h1>
<p><?= $html($work['summary']) ?></p>
<ul>
<?php foreach ($tags as $i => $tag) : ?>
    <li class="<?= $maybe[$i] ? 'maybe' : 'no' ?>"><?= $html($tag) ?> <b lang="ja"><?= $html($titles[$i] ?? '') ?></b></li>
<?php endforeach ?>
</ul>
<p><?= count($titles) ?> of <?= count($tags) ?> tags may have an article.
The <?= count($tags) ?> questions took <?= number_format($nanoseconds / 1000, 1) ?> microseconds together.</p>
<p><a href="<?= $link($work['id'] % $last + 1) ?>">next work</a> ·
<a href="<?= $link(random_int(1, $last)) ?>">random work</a> · <a href="/status">status</a></p>

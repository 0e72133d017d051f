<?php

declare(strict_types=1);

/*
 * fetch_many.php - what a page pays for its tags: 20 keys, one of which is in the filter and has a
 * record. Beside it the same keys asked and looked up by calls that load nothing, and one by one.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

const KEYS = 100_000;
const PAGES = 200;
const TAGS = 20;
const TITLE = 'a title';

fresh_segment();
$articles = present_keys(KEYS);
\bloom_load('articles', $articles);
$pages = array_chunk(absent_keys(PAGES * TAGS), TAGS);
foreach ($pages as $i => $tags) {
    $pages[$i][$i % TAGS] = $articles[$i * 97];
}

$loads = 0;
$titles = array_fill_keys($articles, TITLE);
$load = static function (array $tags) use (&$loads, $titles): array {
    $loads++;
    return array_intersect_key($titles, array_flip($tags));
};
foreach ($pages as $tags) {
    \bloom_fetch_many('articles', $tags, $load);
}
$cold = $loads / PAGES;
foreach ($pages as $i => $tags) {
    $answers = array_filter(\bloom_fetch_many('articles', $tags, $load));
    must($answers === [$i % TAGS => TITLE], 'bloomshm lost an article');
    must(\bloom_cache_set($tags[$i % TAGS], TITLE), 'bloomshm could not store a record');
}
must($loads === (int) ($cold * PAGES), 'a page was loaded twice');

$many = static function (array $pages) use ($load): void {
    foreach ($pages as $tags) {
        \bloom_fetch_many('articles', $tags, $load);
    }
};
$bare = static function (array $pages): void {
    foreach ($pages as $tags) {
        \bloom_maybe_has_many('articles', $tags);
        \bloom_cache_get_many($tags);
    }
};
$one_by_one = static function (array $pages) use ($load): void {
    foreach ($pages as $tags) {
        foreach ($tags as $tag) {
            \bloom_fetch('articles', $tag, $load);
        }
    }
};
report(['cold_loads' => $cold] + nanoseconds_per_key([
    'many' => new Loop($many, $pages, PAGES),
    'bare' => new Loop($bare, $pages, PAGES),
    'one_by_one' => new Loop($one_by_one, $pages, PAGES),
], passes: 201));

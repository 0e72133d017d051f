<?php

/*
 * fleet.php - the page of one host of script/demo-fleet: is a package known? ?add=NAME makes one
 * known.
 */

declare(strict_types=1);

const FILTER = 'packages';

header('Content-Type: application/json');
if (isset($_GET['add'])) {
    echo json_encode(['added' => bloom_add(FILTER, (string) $_GET['add'])]), "\n";
    return;
}
$names = explode(',', (string) ($_GET['names'] ?? ''));
$about = bloom_info(FILTER);
echo json_encode([
    'maybe' => array_values(array_filter($names, fn ($name) => bloom_maybe_has(FILTER, $name))),
    'version' => $about['version'] ?? null,
    'lag' => isset($about['lag']) ? round($about['lag'], 1) : null,
]), "\n";

<?php

/*
 * Compares bloom_info() of all filters (first file, JSON) with what read_segment.py lists (second
 * file, a JSON object a line). Says what differs, and exits with 1 if anything does.
 */

declare(strict_types=1);

$said = json_decode(file_get_contents($argv[1]), true, 512, JSON_THROW_ON_ERROR);
$read = array_map(
    fn (string $line): array => json_decode($line, true, 512, JSON_THROW_ON_ERROR), file($argv[2]),
);
$differences = [];

/* Equal, but for the last digits of sums that were added up in another order. */
function agree(float $a, float $b): bool
{
    return abs($a - $b) <= 1e-9 * abs($a);
}

if (
    array_column($said, 'name') !== array_map(
        fn (array $filter): string => hex2bin($filter['name']), $read,
    )
) {
    $differences[] = 'the filters have other names';
} else {
    $fields = ['generation', 'error_rate', 'capacity', 'items', 'questions', 'maybes',
        'false_positives', 'expansion',
        'window', 'hashes', 'partitions', 'published_at', 'fill', 'estimated_error_rate'];
    foreach ($said as $i => $filter) {
        if (
            $filter['type'] !== $read[$i]['type']
                || count($filter['layers']) !== $read[$i]['layers']
        ) {
            $differences[] = "{$filter['name']}: {$read[$i]['type']}, {$read[$i]['layers']} layers";
        }
        if ($filter['fetches'] !== $read[$i]['fetches']) {
            $differences[] = "{$filter['name']}: fetches " . json_encode($read[$i]['fetches']);
        }
        foreach ($fields as $field) {
            if ($field === 'items' && $filter['type'] === 'sliding') {
                continue; // estimated from the bits
            }
            if (!agree((float) $filter[$field], (float) $read[$i][$field])) {
                $differences[] = "{$filter['name']}: $field is {$filter[$field]}, and {$read[$i][$field]} was read";
            }
        }
    }
}
echo implode("\n", $differences), $differences === [] ? '' : "\n";
exit($differences === [] ? 0 : 1);

<?php

declare(strict_types=1);

/*
 * report.php - the figures and the rows as text, and as JSON.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

function print_figures(Figures $figures): void
{
    printf("\n%-45s %14s   %s\n", 'figure', 'median', 'spread');
    foreach ($figures->all() as $name => $values) {
        $spread = Spread::of($values);
        $ends = count($values) > 1 ? short($spread->low) . ' .. ' . short($spread->high) : '';
        printf("%-45s %14s   %s\n", $name, short($spread->median), $ends);
    }
}

/** @param list<Row> $rows */
function print_rows(array $rows, Figures $figures): void
{
    printf("\n%-60s %9s %-17s %-18s %-13s\n", 'ratio', 'median', '', 'spread', 'goal');
    $met = 0;
    $goals = 0;
    foreach ($rows as $row) {
        $spread = $row->spread($figures);
        $verdict = '';
        if ($row->goal !== null) {
            $goals++;
            $is_met = $row->goal->isMetBy($spread->median);
            $met += (int) $is_met;
            $verdict = $is_met ? 'met' : 'NOT MET';
        }
        printf(
            "%-60s %9s %-17s %-18s %-13s %s\n",
            $row->title,
            short($spread->median),
            $row->unit,
            short($spread->low) . ' .. ' . short($spread->high),
            $row->goal,
            $verdict,
        );
    }
    printf("\n%d of %d goals met\n", $met, $goals);
}

/**
 * @param list<Row> $rows
 * @param array<string, mixed> $setting what ran where
 */
function as_json(array $rows, Figures $figures, array $setting): string
{
    $ratios = [];
    foreach ($rows as $row) {
        $spread = $row->spread($figures);
        $ratios[] = [
            'title' => $row->title,
            'unit' => $row->unit,
            'median' => (float) short($spread->median),
            'low' => (float) short($spread->low),
            'high' => (float) short($spread->high),
            'goal' => $row->goal === null ? null : (string) $row->goal,
            'met' => $row->goal?->isMetBy($spread->median),
        ];
    }
    $document = [...$setting, 'ratios' => $ratios, 'figures' => $figures->all()];
    return json_encode($document, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR)
        . "\n";
}

/** Three digits are more than a benchmark can promise. */
function short(float $value): string
{
    return match (true) {
        $value == 0.0 => '0',
        abs($value) >= 100 => sprintf('%.0f', $value),
        abs($value) < 0.001 => sprintf('%.2e', $value),
        default => sprintf('%.' . (2 - (int) floor(log10(abs($value)))) . 'f', $value),
    };
}

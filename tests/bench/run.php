<?php

declare(strict_types=1);

/*
 * run.php - one run of the benchmark; started by script/bench, which explains the options.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

foreach (
    [
        'chart', 'commands', 'figures', 'growth_chart', 'memory_cases', 'options', 'peer_growth',
        'plan', 'program',
        'report', 'rows', 'statistics',
    ] as $file
) {
    require __DIR__ . "/$file.php";
}

function processor(): string
{
    preg_match('/^model name\s*:\s*(.+)$/m', (string) file_get_contents('/proc/cpuinfo'), $match);
    return $match[1] ?? php_uname('m');
}

/** One line that is written over; nothing in a log. */
function progress(string $text): void
{
    if (stream_isatty(STDERR)) {
        fwrite(STDERR, "\r\033[K$text");
    }
}

set_exception_handler(static function (\Throwable $error): never {
    fwrite(STDERR, "\nbench: {$error->getMessage()}\n");
    exit(1);
});

$options = Options::fromCommandLine();
$plan = new Plan($options);
$versions = run($plan->versions());

$figures = new Figures();
for ($round = 1; $round <= $options->rounds; $round++) {
    foreach ($plan->sections() as $section) {
        if ($round <= $section->rounds) {
            progress("round $round of $options->rounds: $section->name");
            $figures->add($section->name, run($section->command));
        }
    }
}
progress('');

$rows = rows($options);
print_figures($figures);
print_rows($rows, $figures);

$setting = [
    'processor' => processor(),
    'versions' => $versions,
    'rounds' => $options->rounds,
    'apcu' => 'apc.entries_hint fitted to the number of keys',
];
file_put_contents("$options->output/bench.json", as_json($rows, $figures, $setting));
file_put_contents("$options->output/bench.svg", Chart::ofQuestions($figures)->svg());
file_put_contents("$options->output/kinds.svg", Chart::ofKinds($figures)->svg());
file_put_contents("$options->output/growth.svg", (new GrowthChart($figures))->svg());
echo "Written to $options->output: bench.json, bench.svg, kinds.svg, growth.svg\n";

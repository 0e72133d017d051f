<?php

declare(strict_types=1);

/*
 * command.php COMMAND FILE - the command `bloomshm`: keys a second of a load, beside
 * bloom_load_file(), and of questions from a file; and how long one question takes, from the start
 * of the process to its end.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

namespace BloomShm\Bench;

require __DIR__ . '/../section.php';

[, $command, $file] = $argv;

/** Seconds that a call of the command takes. */
function seconds_of(string $input, string ...$call): float
{
    $start = hrtime(true);
    $process = proc_open($call, [['file', $input, 'r'], ['file', '/dev/null', 'w']], $pipes);
    must(is_resource($process), "cannot start $call[0]");
    must(proc_close($process) === 0, implode(' ', $call) . ' failed');
    return (hrtime(true) - $start) / 1e9;
}

$path = ini_get('bloomshm.path');
fresh_segment();
\bloom_reserve('first', 1);
must(\bloom_status()['available'], 'the segment is not available: ' . \bloom_status()['reason']);
$start = hrtime(true);
$keys = \bloom_load_file('by_php', $file)['keys'];
$by_php = (hrtime(true) - $start) / 1e9;
$by_command = seconds_of($file, $command, 'load', '--path', $path, '--json', 'by_command');
$asked = seconds_of($file, $command, 'has', '--path', $path, '--count', 'by_php');
$one = [];
for ($i = 0; $i < 51; $i++) {
    $one[] = seconds_of(
        '/dev/null', $command, 'has', '--path', $path, '--quiet', 'by_php', present_keys(1)[0],
    );
}
sort($one);
report([
    'php_keys_per_second' => $keys / $by_php,
    'load_keys_per_second' => $keys / $by_command,
    'has_keys_per_second' => $keys / $asked,
    'start_ms' => $one[25] * 1e3,
]);

<?php

/*
 * Compares the records that PHP stored (first file: space, key, value, at least and at most when it
 * expires; keys and serialized values in hex) with those that were read (second file). Both have a
 * JSON object a line. Says what differs, and exits with 1 if anything does.
 */

declare(strict_types=1);

/* The value, serialized, that a type and its bytes stand for. */
function value_of(string $type, string $bytes): string
{
    return match ($type) {
        'null' => serialize(null),
        'false' => serialize(false),
        'true' => serialize(true),
        'int' => serialize(unpack('q', $bytes)[1]),
        'float' => serialize(unpack('d', $bytes)[1]),
        'string' => serialize($bytes),
        'php' => $bytes,
        'nothing' => 'nothing',
        default => "type $type",
    };
}

function shown(string $key): string
{
    return strlen($key) <= 60
        ? addcslashes($key, "\0..\37\177..\377")
        : md5($key) . ' (' . strlen($key) . ' bytes)';
}

function lines(string $path): Generator
{
    $file = fopen($path, 'r');
    while (($line = fgets($file)) !== false) {
        yield json_decode($line, true, 512, JSON_THROW_ON_ERROR);
    }
}

$read = [];
$differences = [];
foreach (lines($argv[2]) as $record) {
    $id = $record['space'] . hex2bin($record['key']);
    if (isset($read[$id])) {
        $differences[] = 'read twice: ' . shown($id);
    }
    $read[$id] = $record;
}
foreach (lines($argv[1]) as $said) {
    $id = $said['space'] . hex2bin($said['key']);
    $record = $read[$id] ?? null;
    unset($read[$id]);
    if ($record === null) {
        $differences[] = 'was not read: ' . shown($id);
    } elseif (value_of($record['type'], hex2bin($record['value'])) !== hex2bin($said['value'])) {
        $differences[] = 'another value: ' . shown($id) . ", {$record['type']}";
    } elseif ($record['expires'] < $said['least'] || $record['expires'] > $said['most']) {
        $differences[] = shown($id)
            . ": expires at {$record['expires']}, not {$said['least']} to {$said['most']}";
    }
}
foreach ($read as $id => $record) {
    if (!$record['expired']) {
        $differences[] = 'was never stored: ' . shown((string) $id);
    }
}
echo implode("\n", $differences), $differences === [] ? '' : "\n";
exit($differences === [] ? 0 : 1);

<?php

/*
 * status.php - what is in bloomshm's segment, as a page, as JSON (?json), as metrics (?metrics).
 *
 * Copy this file to where the web server finds it, or include it from a page that checks who asks.
 * It reads only. It needs nothing but the extension, and loads nothing from elsewhere.
 *
 * Who may ask: programs on this host, and ALLOWED. A request from this host is denied where it came
 * through a proxy, since the proxy's address says nothing of who asks, and where it names the host
 * otherwise than `localhost` or by an address, since a foreign site can give its own name to this
 * host (DNS rebinding). For an address in ALLOWED neither is checked.
 *
 * Names may be any bytes. A byte that cannot be printed is shown as \xHH, in all three forms. So is
 * each byte above 7F of a name that is not UTF-8, and a backslash before an x: so each shown name
 * stands for one name.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

declare(strict_types=1);

namespace BloomShm\StatusPage;

/** Addresses and networks that may ask too: '192.0.2.7', '10.0.0.0/8', '2001:db8::/32'. */
const ALLOWED = [];

/** What a proxy adds to a request. */
const PROXY_HEADERS = '/^HTTP_(VIA|FORWARDED|X_FORWARDED_.*|X_REAL_IP|.*(CLIENT|CONNECTING)_IP)$/';

/** The page asks again after so many seconds, or after 20 times as long as the answer took. */
const REFRESH_SECONDS = 2;
const ROWS = 50;

/** Filters are sorted if all of them can be read in about so many seconds; else listed by name. */
const READ_SECONDS = 0.2;
const SECONDS_PER_FILTER = 15e-6;
const SECONDS_PER_BYTE = 1e-10;

/** From here on a filter is called out: the same factor at which a load refuses to publish. */
const RATE_LIMIT = 1.5;
const PLACES = 2048;
/** Half of the room is for short keys: if half of that is full, they are not sent as they come. */
const OUTBOX_FREE = 0.75;
const COLOURS = 8;
const PARTITION_BYTES = 8192;
const MAP_COLUMNS = 128;
const MAP_ROWS = 16;

// ------------------------------------------------------------------------------- the request

function answer(): void
{
    header('X-Content-Type-Options: nosniff');
    header('Cache-Control: no-store');
    header('Referrer-Policy: no-referrer');
    header('X-Frame-Options: DENY');
    header('Cross-Origin-Resource-Policy: same-origin');
    header("Content-Security-Policy: default-src 'none'");
    if (!in_array($_SERVER['REQUEST_METHOD'] ?? 'GET', ['GET', 'HEAD'], true)) {
        header('Allow: GET, HEAD');
        refuse(405, 'This page only answers GET and HEAD.');
    } elseif (!allowed()) {
        refuse(403, 'This page answers programs on its own host, by the name localhost, and the '
            . 'addresses in ALLOWED at the top of status.php.');
    } elseif (isset($_GET['metrics'])) {
        answer_metrics();
    } elseif (isset($_GET['json'])) {
        answer_json();
    } else {
        answer_page();
    }
}

function refuse(int $status, string $why): void
{
    http_response_code($status);
    header('Content-Type: text/plain; charset=utf-8');
    echo $why, "\n";
}

function allowed(): bool
{
    $address = preg_replace('/^::ffff:(?=\d+\.)/i', '', $_SERVER['REMOTE_ADDR'] ?? '');
    foreach (ALLOWED as $network) {
        if (within($address, $network)) {
            return true;
        }
    }
    if (preg_grep(PROXY_HEADERS, array_keys($_SERVER)) !== []) {
        return false;
    }
    $host = preg_replace('/:\d*$/', '', $_SERVER['HTTP_HOST'] ?? 'localhost');
    $direct = strcasecmp($host, 'localhost') === 0 || @inet_pton(trim($host, '[]')) !== false;
    return $direct && (within($address, '127.0.0.0/8') || within($address, '::1'));
}

/** Is the address in this network, or is it this address? */
function within(string $address, string $network): bool
{
    [$base, $bits] = explode('/', $network, 2) + [1 => '128'];
    [$address, $base] = [@inet_pton($address), @inet_pton($base)];
    if ($address === false || $base === false || strlen($address) !== strlen($base)) {
        return false;
    }
    if (!str_contains($network, '/')) {
        return $address === $base;
    }
    if (!preg_match('/^\d{1,3}$/D', $bits) || (int) $bits > 8 * strlen($base)) {
        return false;
    }
    $mask = str_repeat("\xFF", intdiv((int) $bits, 8)) . chr(0xFF00 >> (int) $bits % 8 & 0xFF);
    $mask = substr(str_pad($mask, strlen($base), "\0"), 0, strlen($base));
    return ($address & $mask) === ($base & $mask);
}

/** A parameter of the request. */
function parameter(string $name): string
{
    $value = $_GET[$name] ?? '';
    return is_string($value) ? $value : '';
}

/** The address of this page with other parameters; null leaves one out. */
function address(array $change): string
{
    $kept = array_intersect_key($_GET, array_flip(['filter', 'search', 'sort', 'from', 'prefix']));
    $parameters = array_filter(array_merge($kept, $change), is_string(...));
    return '?' . http_build_query($parameters);
}

// ------------------------------------------------------------------------------- the figures

function loaded(): bool
{
    return function_exists('bloom_status');
}

/** bloom_info(), with what is derived from it; null: there is no such filter. */
function filter(string $name): ?array
{
    try {
        $info = bloom_info($name);
    } catch (\ValueError) {
        return null;
    }
    return $info === null ? null : $info + [
        'layer_count' => count($info['layers']),
        'saved' => max(0, $info['questions'] - $info['maybes']),
        'used' => $info['capacity'] > 0 ? $info['items'] / $info['capacity'] : 0,
        'age' => max(0, $_SERVER['REQUEST_TIME_FLOAT'] - $info['published_at']), // one now for all
    ];
}

/** Can all filters be read for each answer? bloom_info() reads all bits of a filter. */
function can_read_all(array $status): bool
{
    $bytes = $status['filter_bytes'] - $status['filter_bytes_free'];
    $seconds = $status['filters'] * SECONDS_PER_FILTER + $bytes * SECONDS_PER_BYTE;
    return $seconds <= READ_SECONDS;
}

/** What is kept of a filter for the order and the advice; of 10,000 filters it takes 2 MB. */
function kept(array $info, string $column): array
{
    return [$info['name'], $info['bytes'], trouble($info), $info[$column]];
}

/**
 * The filters of one page of the list, and what is kept of all filters that were read for it.
 *
 * A filter of the page that there was no time to read is null; the next page of figures begins with
 * it (`turn`).
 */
function survey(array $status): array
{
    $names = array_map(strval(...), bloom_list());
    $search = parameter('search');
    $matching = $search === '' ? $names : array_values(
        array_filter($names, fn ($name) => stripos(shown($name), $search) !== false),
    );
    $sorted = can_read_all($status);
    [$read, $kept, $column] = [[], [], order()[0]];
    if ($sorted) {
        foreach ($names as $name) {
            $info = filter($name);
            $info === null || $kept[$name] = kept($info, $column);
        }
        $matching = sorted($matching, $kept);
    }
    $from = max(0, min((int) parameter('from'), intdiv(max(0, count($matching) - 1), ROWS) * ROWS));
    $page = array_slice($matching, $from, ROWS);
    $turn = $page === [] ? 0 : max(0, (int) parameter('turn')) % count($page);
    if (!$sorted) {
        [$read, $turn] = read_some($page, $turn);
        $kept = array_map(fn ($info) => kept($info, $column), array_filter($read));
    }
    $rows = [];
    foreach ($page as $name) {
        $rows[] = ['name' => $name, 'info' => $sorted ? filter($name) : $read[$name] ?? null];
    }
    return ['rows' => $rows, 'matching' => count($matching), 'from' => $from, 'sorted' => $sorted,
        'turn' => $turn, 'kept' => $kept];
}

/** Reads filters, from $turn on, until the time is up: what was read, and which one is next. */
function read_some(array $page, int $turn): array
{
    $read = [];
    $end = hrtime(true) + (int) (READ_SECONDS * 1e9);
    do {
        $name = $page[$turn] ?? null;
        if ($name === null || array_key_exists($name, $read)) {
            break;
        }
        $read[$name] = filter((string) $name);
        $turn = ($turn + 1) % count($page);
    } while (hrtime(true) < $end);
    return [$read, $turn];
}

const SORTS = ['name', 'used', 'estimated_error_rate', 'bytes', 'age', 'questions', 'saved'];

/** The column that the list is in the order of, and whether the largest comes first. */
function order(): array
{
    $sort = parameter('sort');
    $column = ltrim($sort, '-');
    return in_array($column, SORTS, true) ? [$column, $sort[0] === '-'] : ['name', false];
}

function sorted(array $names, array $kept): array
{
    [$column, $down] = order();
    if ($column !== 'name') {
        $values = array_map(fn ($name) => $kept[$name][3] ?? -1, $names);
        array_multisort($values, $down ? SORT_DESC : SORT_ASC, SORT_NUMERIC, $names, SORT_STRING);
        return $names;
    }
    return $down ? array_reverse($names) : $names;
}

/** Where a token of the page's opening is given: how much the counters have grown since. */
function growth(array $now): ?array
{
    $then = explode('.', parameter('since'));
    if (count($then) !== count($now)) {
        return null;
    }
    $grown = array_map(fn ($new, $old) => $new - (int) $old, $now, $then);
    // A new segment begins at 0.
    return min($grown) < 0 ? null : array_combine(array_keys($now), $grown);
}

function counters(array $status, array $cache): array
{
    return [
        'questions' => $status['questions'],
        'maybes' => $status['maybes'],
        'hits' => $cache['hits'],
        'misses' => $cache['misses'],
        'evictions' => $cache['evictions'],
        'timeouts' => $status['lock_timeouts'],
        'rejected' => $cache['rejected'],
        'unsent' => $status['unsent'],
        'milliseconds' => (int) (microtime(true) * 1000),
    ];
}

/**
 * Records whose keys begin with the prefix, from the cursor on, as far as 50 ms reach, and why
 * others of them could not be read. Few are read at a time, because their values may be large.
 */
function records(string $prefix, int &$cursor): array
{
    // A class that is loaded runs code when a value of it is unserialized.
    foreach (spl_autoload_functions() as $loader) {
        spl_autoload_unregister($loader);
    }
    ini_set('unserialize_callback_func', '');
    // A value of a class or an enum that is not loaded may warn or throw.
    $found = $faults = [];
    set_error_handler(function (int $level, string $message) use (&$faults): bool {
        return $faults[$message] = true;
    });
    $end = hrtime(true) + 50_000_000;
    do {
        try {
            foreach (bloom_cache_scan($cursor, 1, $prefix) as $key => $value) {
                $found[] = [(string) $key, kind_of($value)];
            }
        } catch (\Throwable $e) {
            $faults[$e->getMessage()] = true;
        }
    } while ($cursor !== 0 && count($found) < ROWS && hrtime(true) < $end);
    restore_error_handler();
    return [$found, array_map(strval(...), array_keys($faults))];
}

function kind_of(mixed $value): string
{
    return match (true) {
        is_string($value) => 'string, ' . number_format(strlen($value)) . ' bytes',
        is_array($value) => 'array of ' . number_format(count($value)),
        is_object($value) => 'object of ' . shown((string)
            (((array) $value)['__PHP_Incomplete_Class_Name'] ?? $value::class)),
        default => get_debug_type($value),
    };
}

// ------------------------------------------------------------------------------- the plain word

/** What should be done, one sentence each. */
function advice(array $status, array $cache, array $filters, ?array $growth): array
{
    if (!ini_get('bloomshm.enable')) {
        return ['bloomshm.enable is 0: every question is answered "maybe". Set it to 1.'];
    }
    if (!$status['available']) {
        return ["There is no segment to look at: $status[reason]."];
    }
    $advice = $status['reason'] === null ? [] : [ucfirst($status['reason']) . '.'];
    if ($status['filters'] === 0) {
        $advice[] = 'There is no filter: run the batch job that loads it, as the user of the pages.';
    }
    if ($status['attached'] > 0.9 * PLACES) {
        $advice[] = "$status[attached] of " . PLACES . ' places for processes are taken: give each '
            . 'pool a segment of its own.';
    }
    if ($growth !== null && $growth['timeouts'] > 0) {
        $advice[] = "$growth[timeouts] waits for a lock ended without it since this page was "
            . 'opened: look for a process that is stopped or starved.';
    }
    if ($growth !== null && $growth['unsent'] > 0) {
        $advice[] = number_format($growth['unsent']) . ' added keys could not be sent to other '
            . 'hosts since this page was opened: they are here until the next version only. Look '
            . 'at the follower and its stream; keys have at most 4,072 bytes.';
    }
    if ($status['outbox_bytes_free'] < OUTBOX_FREE * $status['outbox_bytes']) {
        $advice[] = number_format($status['outbox_keys']) . ' added keys wait to be sent to other '
            . 'hosts, and the room for them is nearly full: look at the follower and its stream.';
    }
    if ($growth !== null && $growth['rejected'] > 0) {
        $advice[] = "$growth[rejected] records were too large for the record store since this page "
            . 'was opened: store less in one, or raise bloomshm.cache_memory.';
    }
    return array_merge($advice, memory_advice($status, $filters), filter_advice($filters));
}

function memory_advice(array $status, array $filters): array
{
    [$largest, $most] = ['', 0];
    foreach ($filters as [$name, $bytes]) {
        [$largest, $most] = $bytes > $most ? [$name, $bytes] : [$largest, $most];
    }
    if ($most <= $status['filter_bytes_free']) {
        return [];
    }
    return [sprintf(
        'The next load of "%s" may find no room: the old and the new filter must fit at once, and '
            . 'the old one takes %s of which %s are free. Raise bloomshm.filter_memory.',
        shown($largest), bytes($most), bytes($status['filter_bytes_free']),
    )];
}

function filter_advice(array $filters): array
{
    $found = [];
    foreach ($filters as [$name, , $trouble]) {
        if ($trouble !== null) {
            $found[$trouble][] = $name;
        }
    }
    $advice = [];
    foreach ($found as $trouble => $names) {
        $more = count($names) - 3;
        $shown = array_map(fn ($name) => '"' . shown($name) . '"', array_slice($names, 0, 3));
        $advice[] = implode(', ', $shown)
            . ($more > 0 ? ' and ' . number_format($more) . ' more' : '') . ": $trouble";
    }
    return $advice;
}

/** What is wrong with a filter, or null. */
function trouble(array $info): ?string
{
    $counts = $info['questions'] >= 10_000;
    return match (true) {
        $info['stale']
            => 'stale: its source was not heard of for ' . ago($info['lag']) . ', so every answer '
                . 'is "maybe". Look at its follower.',
        $info['items'] > 0 && $info['estimated_error_rate'] > RATE_LIMIT * $info['error_rate']
            => 'more wrong "maybe" than asked for. Load it anew, with its true capacity.',
        $info['type'] === 'fixed' && $info['used'] >= 1
            => 'no more keys fit. Load it anew, with a larger capacity.',
        $info['layer_count'] > 4
            => 'many layers, so questions take longer. Load it anew.',
        $counts && $info['saved'] < 0.1 * $info['questions']
            => 'nine of ten questions are answered "maybe", so it saves little.',
        default => null,
    };
}

// ------------------------------------------------------------------------------- JSON

function answer_json(): void
{
    header('Content-Type: application/json');
    if (!loaded()) {
        http_response_code(503);
        exit('{"error": "The extension bloomshm is not loaded."}' . "\n");
    }
    [$status, $cache] = [bloom_status(), bloom_cache_info()];
    $survey = survey($status);
    $answer = [
        'status' => $status,
        'cache' => $cache,
        'advice' => advice($status, $cache, $survey['kept'], growth(counters($status, $cache))),
        'matching' => $survey['matching'],
        'from' => $survey['from'],
        'sorted' => $survey['sorted'],
        'filters' => array_map(
            fn ($row) => $row['info'] ?? ['name' => $row['name']], $survey['rows'],
        ),
    ];
    if (isset($_GET['filter'])) {
        $answer['filter'] = filter(parameter('filter'));
    }
    if (isset($_GET['verify'])) {
        $answer['verify'] = bloom_verify();
    }
    if (isset($_GET['prefix'])) {
        $cursor = (int) parameter('cursor');
        [$answer['records'], $answer['unread']] = records(parameter('prefix'), $cursor);
        $answer['cursor'] = (string) $cursor;
    }
    array_walk_recursive($answer, function (mixed &$value): void {
        $value = is_string($value) ? shown($value) : $value;
    });
    echo json_encode($answer, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE), "\n";
}

// ------------------------------------------------------------------------------- metrics

/** Of each filter: name => [type, unit, help, field of bloom_info()]. */
const FILTER_METRICS = [
    'filter_questions' => ['counter', '', 'Keys asked about since the publication.', 'questions'],
    'filter_maybes' => ['counter', '', 'Keys that were answered maybe.', 'maybes'],
    'filter_false_positives' => ['counter', '', 'Wrong answers that bloom_fetch() found.',
        'false_positives'],
    'filter_keys' => ['gauge', 'keys', 'Different keys in the filter.', 'items'],
    'filter_capacity_keys' => ['gauge', 'keys', 'Keys that it holds at its rate.', 'capacity'],
    'filter_size_bytes' => ['gauge', 'bytes', 'Memory of the filter.', 'bytes'],
    'filter_error_ratio' => ['gauge', 'ratio', 'Share of absent keys that are answered maybe.',
        'estimated_error_rate'],
    'filter_error_ratio_asked' => ['gauge', '', 'The share that was asked for.', 'error_rate'],
    'filter_published_timestamp_seconds' => ['gauge', 'seconds', 'When it was published.',
        'published_at'],
    'filter_layers' => ['gauge', 'layers', 'Layers of the filter.', 'layers'],
    'filter_lag_seconds' => ['gauge', 'seconds', 'How old the word of its source is.', 'lag'],
    'filter_max_lag_seconds' => ['gauge', 'seconds', 'It is stale when the lag is above it.',
        'max_lag'],
    'filter_unsent' => ['counter', '', 'Added keys that cannot be sent to other hosts.', 'unsent'],
];

/** Of the segment: name => [type, unit, help, field of bloom_status()]. */
const SEGMENT_METRICS = [
    'memory_bytes' => ['gauge', 'bytes', 'Memory for filters.', 'filter_bytes'],
    'memory_free_bytes' => ['gauge', 'bytes', 'Free memory for filters.', 'filter_bytes_free'],
    'processes' => ['gauge', 'processes', 'Processes that may write.', 'attached'],
    'repairs' => ['counter', '', 'Repairs of what a dead process had left.', 'repairs'],
    'lock_timeouts' => ['counter', '', 'Waits for a lock that ended without it.', 'lock_timeouts'],
    'outbox_keys' => ['gauge', 'keys', 'Keys that wait to be sent to other hosts.', 'outbox_keys'],
    'outbox_bytes' => ['gauge', 'bytes', 'Memory for them.', 'outbox_bytes'],
    'outbox_free_bytes' => ['gauge', 'bytes', 'Free memory for them.', 'outbox_bytes_free'],
];

/** Of the record store: name => [type, unit, help, field of bloom_cache_info()]. */
const CACHE_METRICS = [
    'records' => ['gauge', 'records', 'Records in the store.', 'records'],
    'cache_hits' => ['counter', '', 'Reads that found a record.', 'hits'],
    'cache_misses' => ['counter', '', 'Reads that found none.', 'misses'],
    'cache_sets' => ['counter', '', 'Records that were stored.', 'sets'],
    'cache_evictions' => ['counter', '', 'Records evicted to make room.', 'evictions'],
    'cache_expired' => ['counter', '', 'Records removed after their time.', 'expired'],
    'cache_rejected' => ['counter', '', 'Records that were too large.', 'rejected'],
];

/** OpenMetrics, or the older text format for a client that accepts text/plain and not it. */
function answer_metrics(): void
{
    $accept = $_SERVER['HTTP_ACCEPT'] ?? '*/*';
    $open = !str_contains($accept, 'text/plain') || str_contains($accept, 'openmetrics');
    header('Content-Type: ' . ($open ? 'application/openmetrics-text; version=1.0.0; charset=utf-8'
        : 'text/plain; version=0.0.4; charset=utf-8'));
    $status = loaded() ? bloom_status() : ['available' => false];
    $up = ['up' => ['gauge', '', '1: the segment can be used.', 'up']];
    print_families($up, [['', ['up' => (int) $status['available']]]], $open);
    if ($status['available']) {
        print_families(SEGMENT_METRICS, [['', $status]], $open);
        print_families(CACHE_METRICS, [['', bloom_cache_info()]], $open);
        print_families(FILTER_METRICS, filter_figures(), $open);
    }
    echo $open ? "# EOF\n" : '';
}

/** The label and the figures of each filter. */
function filter_figures(): \Generator
{
    foreach (bloom_list() as $name) {
        $info = bloom_info($name);
        if ($info !== null) {
            $label = strtr(shown($name), ['\\' => '\\\\', '"' => '\\"']);
            yield ["{filter=\"$label\"}", ['layers' => count($info['layers'])] + $info];
        }
    }
}

/**
 * Metrics with their samples, each [labels, figures]. All samples of one metric are together. A
 * figure that is null is left out.
 */
function print_families(array $metrics, iterable $samples, bool $open): void
{
    $labels = $columns = [];
    foreach ($samples as [$label, $figures]) {
        $labels[] = $label;
        foreach ($metrics as $name => [, , , $field]) {
            $columns[$name][] = $figures[$field];
        }
    }
    foreach ($metrics as $name => [$type, $unit, $help]) {
        $total = $type === 'counter' ? '_total' : '';
        $head = "bloomshm_$name" . ($open ? '' : $total);
        $help = strtr($help, $open ? ['"' => '\\"'] : []);
        $text = "# HELP $head $help\n# TYPE $head $type\n"
            . ($open && $unit !== '' ? "# UNIT $head $unit\n" : '');
        foreach ($labels as $i => $label) {
            $figure = $columns[$name][$i];
            $text .= $figure === null ? ''
                : "bloomshm_$name$total$label " . json_encode($figure) . "\n";
        }
        echo $text;
    }
}

// ------------------------------------------------------------------------------- text

/** A name or a message with any bytes as printable UTF-8: see the top. */
function shown(string $text): string
{
    $hex = fn (array $match) => preg_replace_callback(
        '/./s', fn ($byte) => sprintf('\x%02X', ord($byte[0])), $match[0],
    );
    return preg_match('//u', $text)
        ? preg_replace_callback('/\\\\(?=x)|[\p{C}\p{Zl}\p{Zp}]/u', $hex, $text)
        : preg_replace_callback('/\\\\(?=x)|[\x00-\x1F\x7F-\xFF]/', $hex, $text);
}

function html(string $text): string
{
    return htmlspecialchars(shown($text), ENT_QUOTES | ENT_SUBSTITUTE);
}

function bytes(int|float $bytes): string
{
    foreach (['bytes', 'KiB', 'MiB', 'GiB'] as $unit) {
        if ($bytes < 1024 || $unit === 'GiB') {
            break;
        }
        $bytes /= 1024;
    }
    return number_format($bytes, $unit === 'bytes' || $bytes >= 100 ? 0 : 1) . " $unit";
}

/** Three digits that count: 1.00 %, 0.0123 %; below a millionth: about 0 %. */
function percent(float $ratio): string
{
    $percent = 100 * $ratio;
    if ($percent > 0 && $percent < 0.0001) {
        return 'about 0 %';
    }
    $digits = $percent > 0 ? 2 - (int) floor(log10($percent)) : 0;
    return number_format($percent, max(0, $digits)) . ' %';
}

function ago(float $seconds): string
{
    return match (true) {
        $seconds < 100 => (int) $seconds . ' s',
        $seconds < 6000 => (int) ($seconds / 60) . ' min',
        $seconds < 172800 => (int) ($seconds / 3600) . ' h',
        default => number_format((int) ($seconds / 86400)) . ' d',
    };
}

/** The share of a whole as a line that is filled so far. */
function bar(float $share, bool $wrong = false): string
{
    return sprintf(
        '<svg class="bar%s" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
            . '<rect width="%.1F" height="4"/></svg>',
        $wrong ? ' wrong' : '', max(0, min(100, 100 * $share)),
    );
}

// ------------------------------------------------------------------------------- the page

function answer_page(): void
{
    $started = hrtime(true);
    $nonce = base64_encode(random_bytes(18));
    header('Content-Type: text/html; charset=utf-8');
    header("Content-Security-Policy: default-src 'none'; script-src 'nonce-$nonce'; "
        . "style-src 'nonce-$nonce'; connect-src 'self'; img-src data:; form-action 'self'; "
        . "base-uri 'none'; frame-ancestors 'none'");
    http_response_code(loaded() ? 200 : 503);
    $part = isset($_GET['part']); // what the page's script asks for
    $part || page_head($nonce);
    if (!loaded()) {
        echo '<main><p class="advice">The extension bloomshm is not loaded.</p></main>';
    } else {
        [$status, $cache] = [bloom_status(), bloom_cache_info()];
        $now = counters($status, $cache);
        $growth = growth($now);
        $survey = survey($status);
        ob_start();
        page_advice(advice($status, $cache, $survey['kept'], $growth));
        if ($status['available']) {
            page_totals($status, $cache, $growth);
            isset($_GET['filter']) && page_filter(parameter('filter'));
            page_filters($survey);
            page_memory($status);
            page_store($cache, $growth);
        }
        page_segment($status);
        $sections = ob_get_clean();
        printf(
            '<main data-now="%s" data-turn="%d" data-wait="%.1F">%s</main>',
            implode('.', $now), $survey['turn'],
            max(REFRESH_SECONDS, (hrtime(true) - $started) / 1e9 * 20), $sections,
        );
    }
    $part || page_foot($nonce);
}

function page_advice(array $advice): void
{
    echo '<section aria-label="What should be done" aria-live="polite">';
    if ($advice === []) {
        echo '<p class="good">Nothing needs to be done.</p>';
    } else {
        echo '<ul class="advice">';
        foreach ($advice as $sentence) {
            printf('<li>%s</li>', html($sentence));
        }
        echo '</ul>';
    }
    echo '</section>';
}

function page_totals(array $status, array $cache, ?array $growth): void
{
    $asked = $status['questions'];
    $saved = max(0, $asked - $status['maybes']);
    $seconds = ($growth['milliseconds'] ?? 0) / 1000;
    $reads = ($growth['hits'] ?? 0) + ($growth['misses'] ?? 0);
    $tiles = [
        ['questions saved', number_format($saved), $asked === 0 ? 'none was asked yet'
            : percent($saved / $asked) . ' of ' . number_format($asked)],
        ['questions a second', $seconds > 0 ? number_format($growth['questions'] / $seconds) : '–',
            'while this page is open'],
        ['record store hits', $reads > 0 ? percent($growth['hits'] / $reads) : '–',
            number_format($reads) . ' reads while this page is open'],
        ['filters', number_format($status['filters']), bytes($status['filter_bytes_free'])
            . ' of ' . bytes($status['filter_bytes']) . ' free'],
        ['records', number_format($cache['records']), bytes($cache['data_bytes'])
            . ' of keys and values'],
    ];
    echo '<section aria-label="Totals"><dl class="tiles">';
    foreach ($tiles as [$what, $figure, $more]) {
        printf(
            '<div><dt>%s</dt><dd><b>%s</b> <small>%s</small></dd></div>', $what, $figure, $more,
        );
    }
    echo '</dl></section>';
}

/** One filter with everything that bloom_info() says. */
function page_filter(string $name): void
{
    $info = filter($name);
    printf(
        '<section id="filter"><h2 tabindex="-1">Filter <bdi>%s</bdi></h2>'
            . '<p><a href="%s" data-focus="filters">Close</a></p>', html($name),
        html(address(['filter' => null])),
    );
    if ($info === null) {
        echo '<p>There is no filter of this name, or it is damaged or being cleared.</p></section>';
        return;
    }
    $trouble = trouble($info);
    echo $trouble === null ? '' : '<p class="advice">' . html(ucfirst($trouble)) . '</p>';
    $fetches = $info['fetches'];
    echo facts([
        'kind' => kind_of_filter($info),
        'keys' => number_format($info['items']) . ' of ' . number_format($info['capacity']),
        'error rate now' => percent($info['estimated_error_rate']),
        'asked for' => percent($info['error_rate']),
        'in the worst partition' => percent($info['worst_partition_error_rate']),
        'fill' => percent($info['fill']) . ' of its bits',
        'memory' => bytes($info['bytes']) . ' in ' . number_format($info['partitions'])
            . ' partitions',
        'bits a key' => $info['bits_per_key'] === null ? '–'
            : number_format($info['bits_per_key'], 1),
        'published' => gmdate('Y-m-d H:i:s', (int) $info['published_at']) . ' UTC, '
            . ago($info['age']) . ' ago',
        'generation' => number_format($info['generation']),
        'questions' => number_format($info['questions']),
        'answered "maybe"' => number_format($info['maybes']),
        'saved' => number_format($info['saved']),
        'by bloom_fetch()' => number_format($fetches['asked']) . ' asked, '
            . number_format($fetches['denied']) . ' denied, ' . number_format($fetches['found'])
            . ' found, ' . number_format($fetches['loaded']) . ' loaded',
        'wrong "maybe" it found' => number_format($info['false_positives']),
    ] + followed($info));
    page_fills($name, $info);
    if (count($info['layers']) > 1) {
        page_layers($info['layers']);
    }
    echo '</section>';
}

/** Whom a filter follows. */
function followed(array $info): array
{
    return $info['source'] === null ? [] : [
        'follows' => $info['source'] . ', version ' . number_format($info['version']),
        'heard' => ago($info['lag']) . ' ago' . ($info['max_lag'] === null ? ''
            : ', stale after ' . ago($info['max_lag'])),
    ] + ($info['unsent'] === null ? []
        : ['added keys that cannot be sent' => number_format($info['unsent'])]);
}

/** How full each partition is: a column for each, or for the fullest of some neighbours. */
function page_fills(string $name, array $info): void
{
    if ($info['bytes'] * SECONDS_PER_BYTE > READ_SECONDS) {
        return;
    }
    $fills = bloom_fills($name) ?? [];
    if ($fills === []) {
        return;
    }
    $columns = array_map(max(...), array_chunk($fills, (int) ceil(count($fills) / MAP_COLUMNS)));
    printf(
        '<h3>Fill of its partitions</h3><svg class="fills" viewBox="0 0 %d 100" '
            . 'preserveAspectRatio="none" role="img" aria-label="From %s to %s of their bits are '
            . 'set"><path d="M0 100', count($columns), percent(min($fills)), percent(max($fills)),
    );
    foreach ($columns as $i => $fill) {
        printf('V%.1FH%d', 100 - 100 * $fill, $i + 1);
    }
    printf(
        'V100Z"/></svg><p><small>%s to %s of the bits are set; a filter at its capacity has about '
            . 'half of them set.</small></p>', percent(min($fills)), percent(max($fills)),
    );
}

function page_layers(array $layers): void
{
    echo '<div class="wide" tabindex="0" role="region" aria-label="Layers"><table>'
        . '<caption>Layers, the oldest first</caption><thead><tr><th scope="col">Keys</th>'
        . '<th scope="col">Capacity</th><th scope="col">Rate now</th><th scope="col">Asked</th>'
        . '<th scope="col">Memory</th></tr></thead><tbody>';
    foreach ($layers as $layer) {
        printf(
            '<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>',
            number_format($layer['items']), number_format($layer['capacity']),
            percent($layer['estimated_error_rate']), percent($layer['error_rate']),
            bytes($layer['bytes']),
        );
    }
    echo '</tbody></table></div>';
}

function kind_of_filter(array $info): string
{
    return $info['type'] . ($info['window'] > 0 ? ', window ' . ago($info['window']) : '');
}

/** A list of terms and what they are. */
function facts(array $facts): string
{
    $list = '';
    foreach ($facts as $what => $figure) {
        $list .= sprintf('<div><dt>%s</dt><dd>%s</dd></div>', html($what), html($figure));
    }
    return "<dl class=\"facts\">$list</dl>";
}

function page_filters(array $survey): void
{
    echo '<section id="filters"><h2>Filters</h2>';
    printf(
        '<form role="search" data-live><label>Name contains <input type="search" name="search" '
            . 'value="%s" autocomplete="off"></label>%s <button>Search</button></form>',
        html(parameter('search')), hidden(['sort', 'filter']),
    );
    if (!$survey['sorted']) {
        echo '<p class="note">The filters are large: reading all of them for each answer would '
            . 'take too long. They are in the order of their names, and their rows take turns.</p>';
    }
    if ($survey['rows'] === []) {
        echo '<p>No filter has such a name.</p></section>';
        return;
    }
    echo '<div class="wide" tabindex="0" role="region" aria-label="Filters"><table>'
        . '<thead><tr>' . heads($survey['sorted']) . '</tr></thead><tbody>';
    foreach ($survey['rows'] as $row) {
        filter_row($row['name'], $row['info']);
    }
    echo '</tbody></table></div>';
    pages($survey);
    echo '</section>';
}

/** The columns: [heading, what to sort by, class]. */
function heads(bool $sortable): string
{
    [$column, $down] = order();
    $heads = '';
    foreach ([['Filter', 'name', ''], ['Keys', 'used', ''],
        ['Error rate', 'estimated_error_rate', ''], ['Memory', 'bytes', 'more'],
        ['Age', 'age', 'more'], ['Questions', 'questions', 'more'],
        ['Saved', 'saved', '']] as [$text, $by, $class]) {
        $here = $sortable && $by === $column;
        $next = $by === 'name' ? ($here && !$down ? '-name' : 'name')
            : ($here && $down ? $by : "-$by");
        $heads .= sprintf(
            '<th scope="col" class="%s"%s>%s</th>', $class,
            $here ? ' aria-sort="' . ($down ? 'descending' : 'ascending') . '"' : '',
            $sortable ? sprintf('<a href="%s">%s</a>',
                html(address(['sort' => $next, 'from' => null])), $text) : $text,
        );
    }
    return $heads;
}

function filter_row(string $name, ?array $info): void
{
    $link = html(address(['filter' => $name]));
    $cell = '<th scope="row"><a href="%s" data-focus="filter"><bdi>%s</bdi></a> <small>%s</small>';
    if ($info === null) {
        printf(
            "<tr data-key=\"%s\" data-keep>$cell</th><td>–</td><td>–</td><td class=\"more\">–</td>"
                . '<td class="more">–</td><td class="more">–</td><td>–</td></tr>',
            bin2hex($name), $link, html($name), 'not read yet',
        );
        return;
    }
    $high = $info['items'] > 0
        && $info['estimated_error_rate'] > RATE_LIMIT * $info['error_rate'];
    printf(
        "<tr data-key=\"%s\">$cell%s</th><td>%s <small>of %s</small>%s</td>"
            . '<td>%s <small class="sub">asked %s, worst %s</small></td><td class="more">%s</td>'
            . '<td class="more">%s</td><td class="more">%s</td><td>%s <small>%s</small></td></tr>',
        bin2hex($name), $link, html($name), html(kind_of_filter($info)),
        trouble($info) === null ? '' : ' <strong>look</strong>',
        number_format($info['items']), number_format($info['capacity']),
        bar($info['used'], $info['type'] === 'fixed' && $info['used'] >= 1),
        $high ? '<strong>' . percent($info['estimated_error_rate']) . '</strong>'
            : percent($info['estimated_error_rate']),
        percent($info['error_rate']), percent($info['worst_partition_error_rate']),
        bytes($info['bytes']), ago($info['age']), number_format($info['questions']),
        number_format($info['saved']),
        $info['questions'] === 0 ? '' : percent($info['saved'] / $info['questions']),
    );
}

/** Fields that a form takes along. */
function hidden(array $names): string
{
    $fields = '';
    foreach ($names as $name) {
        $value = parameter($name);
        // A form sends UTF-8 only.
        if ($value !== '' && preg_match('//u', $value)) {
            $fields .= sprintf(
                '<input type="hidden" name="%s" value="%s">', $name,
                htmlspecialchars($value, ENT_QUOTES),
            );
        }
    }
    return $fields;
}

function pages(array $survey): void
{
    $last = $survey['from'] + count($survey['rows']);
    printf(
        '<nav aria-label="Pages of filters">%s to %s of %s',
        number_format($survey['from'] + 1), number_format($last),
        number_format($survey['matching']),
    );
    $places = ['first' => 0, 'previous' => $survey['from'] - ROWS, 'next' => $last];
    foreach ($places as $what => $at) {
        if ($what === 'next' ? $at < $survey['matching'] : $at >= 0 && $survey['from'] > 0) {
            printf(' <a href="%s">%s</a>', html(address(['from' => (string) $at])), $what);
        }
    }
    echo '</nav>';
}

/** How many partitions each filter has, the most first, and how many of each cell of the map. */
function places(int $cell): array
{
    $sizes = $cells = [];
    foreach (bloom_list() as $name) {
        foreach (bloom_runs((string) $name) ?? [] as [$at, $count]) {
            $sizes[$name] = ($sizes[$name] ?? 0) + $count;
            for ($end = $at + $count; $at < $end; $at = $next) {
                $next = min($end, $at - $at % $cell + $cell);
                $number = intdiv($at, $cell);
                $cells[$number][$name] = ($cells[$number][$name] ?? 0) + $next - $at;
            }
        }
    }
    arsort($sizes);
    return [$sizes, $cells];
}

/** Whose partitions lie where: a map of cells, from the left to the right and then down. */
function page_memory(array $status): void
{
    $partitions = intdiv($status['filter_bytes'], PARTITION_BYTES);
    $cell = max(1, (int) ceil($partitions / (MAP_COLUMNS * MAP_ROWS)));
    $rows = (int) ceil($partitions / $cell / MAP_COLUMNS);
    [$sizes, $cells] = places($cell);
    $largest = array_slice($sizes, 0, COLOURS, true);
    $colours = array_flip(array_keys($largest));
    printf(
        '<section id="memory"><h2>Memory of the filters</h2><svg class="map" viewBox="0 0 %d %d" '
            . 'preserveAspectRatio="none" role="img" aria-label="Which filter lies where; the list '
            . 'below says how much each takes">', MAP_COLUMNS, $rows,
    );
    foreach (strips($cells, $cell, $colours) as [$number, $count, $class]) {
        printf(
            '<rect class="%s" x="%d" y="%d" width="%d" height="1"/>', $class,
            $number % MAP_COLUMNS, intdiv($number, MAP_COLUMNS), $count,
        );
    }
    echo '</svg><ul class="legend">';
    foreach ($colours as $name => $i) {
        printf(
            '<li><i class="c%d"></i><bdi>%s</bdi> %s</li>', $i, html((string) $name),
            bytes($sizes[$name] * PARTITION_BYTES),
        );
    }
    $taken = $status['filter_bytes'] - $status['filter_bytes_free'];
    $rest = max(0, $taken - array_sum($largest) * PARTITION_BYTES);
    printf(
        '<li><i class="crest"></i>%s %s</li><li><i class="cfree"></i>free %s, %s of it in one '
            . 'piece</li></ul></section>',
        $largest === [] ? 'in use' : 'all others, and loads', bytes($rest),
        bytes($status['filter_bytes_free']), bytes($status['largest_free_bytes']),
    );
}

/** Neighbouring cells of a row that look the same: the first, how many, their class. */
function strips(array $cells, int $cell, array $colours): array
{
    $strips = [];
    ksort($cells);
    foreach ($cells as $number => $shares) {
        arsort($shares);
        $colour = $colours[array_key_first($shares)] ?? 'rest';
        $full = array_sum($shares) / $cell;
        $class = "c$colour" . ($full < 0.25 ? ' low' : ($full < 0.75 ? ' half' : ''));
        $last = array_key_last($strips);
        if ($last !== null && $strips[$last][2] === $class && $number % MAP_COLUMNS !== 0
            && $strips[$last][0] + $strips[$last][1] === $number) {
            $strips[$last][1]++;
        } else {
            $strips[] = [$number, 1, $class];
        }
    }
    return $strips;
}

function page_store(array $cache, ?array $growth): void
{
    echo '<section id="store"><h2>Record store</h2>';
    if ($cache['bytes_total'] === 0) {
        echo '<p>This segment has no record store (bloomshm.cache_memory was 0).</p></section>';
        return;
    }
    $reads = $cache['hits'] + $cache['misses'];
    echo facts([
        'records' => number_format($cache['records']) . ($cache['max_records'] === 0 ? ''
            : ' of ' . number_format($cache['max_records'])),
        'memory' => bytes($cache['bytes_used']) . ' of ' . bytes($cache['bytes_total']),
        'keys and values' => bytes($cache['data_bytes']),
        'hits' => number_format($cache['hits']) . ($reads === 0 ? ''
            : ', ' . percent($cache['hits'] / $reads) . ' of the reads'),
        'misses' => number_format($cache['misses']),
        'stored' => number_format($cache['sets']),
        'evicted' => number_format($cache['evictions']) . turnover($cache, $growth),
        'expired' => number_format($cache['expired']),
        'too large' => number_format($cache['rejected']),
        'lock time-outs' => number_format($cache['lock_timeouts']),
        'repairs' => number_format($cache['repairs']),
    ]);
    page_sizes($cache);
    page_keys();
    echo '</section>';
}

/** The age at which records are evicted: the time in which all of them are replaced. */
function turnover(array $cache, ?array $growth): string
{
    if (($growth['evictions'] ?? 0) === 0) {
        return '';
    }
    $seconds = $cache['records'] / $growth['evictions'] * $growth['milliseconds'] / 1000;
    return ', unused for about ' . ago($seconds);
}

/** What the memory of the store is for: records by size, the index. */
function page_sizes(array $cache): void
{
    $sizes = [];
    foreach (bloom_cache_classes() as $class) {
        $what = match ($class['use']) {
            'index' => 'index',
            'parts' => 'larger records',
            default => 'records up to ' . bytes(max(64, 4 ** ceil(log($class['slot_bytes'], 4)))),
        };
        $sizes[$what] ??= ['bytes' => 0, 'used' => 0];
        $sizes[$what]['bytes'] += $class['bytes'];
        $sizes[$what]['used'] += $class['bytes'] * $class['used'] / max(1, $class['slots']);
    }
    echo '<svg class="memory" viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" '
        . 'aria-label="What the memory is used for; the list below says the same">';
    $at = $i = 0;
    foreach ($sizes as $size) {
        $width = 1000 * $size['bytes'] / $cache['bytes_total'];
        printf('<rect class="c%d" x="%.2F" width="%.2F" height="20"/>', $i++, $at, $width);
        $at += $width;
    }
    echo '</svg><ul class="legend">';
    $i = 0;
    foreach ($sizes as $what => $size) {
        printf(
            '<li><i class="c%d"></i>%s %s, %d %% of it used</li>', $i++, $what,
            bytes($size['bytes']), 100 * $size['used'] / $size['bytes'],
        );
    }
    printf(
        '<li><i class="cfree"></i>free %s</li></ul>',
        bytes($cache['bytes_total'] - $cache['bytes_used']),
    );
}

/** The browser of keys. Values are not shown: they may be secret. */
function page_keys(): void
{
    $asked = isset($_GET['prefix']);
    printf(
        '<div id="keys"%s><form role="search" aria-label="Keys of records"><label>Keys that begin '
            . 'with <input type="search" name="prefix" value="%s" autocomplete="off"></label>%s '
            . '<button data-focus="found">Show</button></form>',
        isset($_GET['refresh']) ? ' data-keep' : '',
        html(parameter('prefix')), hidden(['search', 'sort', 'from', 'filter']),
    );
    if ($asked && !isset($_GET['refresh'])) {
        $cursor = (int) parameter('cursor');
        [$records, $faults] = records(parameter('prefix'), $cursor);
        foreach (array_slice($faults, 0, 3) as $fault) {
            printf('<p>Some values cannot be read by this page: %s</p>', html($fault));
        }
        echo '<h3 id="found" tabindex="-1">Records found: ', count($records), '</h3>'
            . '<ul class="keys">';
        foreach ($records as [$key, $kind]) {
            printf('<li><bdi>%s</bdi> <small>%s</small></li>', html($key), html($kind));
        }
        echo '</ul><p>';
        if ($cursor !== 0) {
            printf(
                '<a href="%s" data-focus="found">Go on</a> · ',
                html(address(['cursor' => (string) $cursor])),
            );
        }
        printf(
            '<a href="%s" data-focus="keys">Close</a></p>', html(address(['prefix' => null])),
        );
    }
    echo '</div>';
}

function page_segment(array $status): void
{
    echo '<section id="segment"><h2>Segment</h2>';
    $figures = $status['available'] ? [
        'processes' => number_format($status['attached']),
        'repairs' => number_format($status['repairs']),
        'lock time-outs' => number_format($status['lock_timeouts']),
        'keys to send' => number_format($status['outbox_keys']) . ', '
            . bytes($status['outbox_bytes_free']) . ' of ' . bytes($status['outbox_bytes'])
            . ' free',
        'owner and mode' => "uid $status[owner_uid], " . sprintf('%04o', $status['mode']),
        'layout version' => (string) $status['layout_version'],
    ] : [];
    echo facts($figures + [
        'extension' => (string) phpversion('bloomshm'),
        'file' => $status['path'],
        'last error of this process' => $status['last_error'] ?? 'none',
    ]);
    echo '<h3>Settings of this process</h3>', facts(array_map(
        fn ($value) => $value === '' ? '–' : (string) $value,
        ini_get_all('bloomshm', details: false),
    ));
    printf(
        '<div id="verify"%s>', isset($_GET['refresh']) ? ' data-keep' : '',
    );
    if (isset($_GET['verify']) && !isset($_GET['refresh'])) {
        $faults = bloom_verify();
        printf(
            '<h3 id="checked" tabindex="-1">%s</h3><ul>',
            $faults === [] ? 'The check found no fault.'
                : 'The check found faults (what to do: OPERATIONS.md, "After an accident")',
        );
        foreach ($faults as $fault) {
            printf('<li>%s</li>', html($fault));
        }
        echo '</ul>';
    }
    printf(
        '<p><a href="%s" data-focus="checked">Check the whole segment</a>: this may take some '
            . 'seconds.</p></div></section>', html(address(['verify' => '1'])),
    );
}

function page_head(string $nonce): void
{
    ?>
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>bloomshm on <?= html(gethostname() ?: 'this host') ?></title>
<style nonce="<?= $nonce ?>">
:root {
    color-scheme: light dark;
    --back: #f5f6f8; --card: #fff; --text: #1c2430; --soft: #566070; --line: #dce0e6;
    --link: #0b57b0; --fill: #2f7ed8; --good: #17693a; --bad: #a3271c; --warn: #fff4d6;
    --edge: #c98a00;
}
@media (prefers-color-scheme: dark) {
    :root {
        --back: #12161c; --card: #1b2129; --text: #e4e8ee; --soft: #a3adba; --line: #323a45;
        --link: #82b7ff; --fill: #4b94ea; --good: #6fd397; --bad: #ff9a8f; --warn: #33290f;
        --edge: #d9a62e;
    }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text) }
body { font: 15px/1.5 system-ui, sans-serif }
bdi, dd, li { overflow-wrap: anywhere }
header, main { max-width: 76rem; margin: auto; padding: 1rem }
header { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: baseline }
h1 { font-size: 1.4rem; margin: 0; flex: 1 }
h2 { font-size: 1.1rem; margin: 0 0 .6rem }
h3 { font-size: 1rem; margin: 1rem 0 .3rem }
a { color: var(--link) }
small, dt, .note, #state { color: var(--soft); font-size: .85rem }
strong { color: var(--bad) }
section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem }
section { padding: 1rem; margin-bottom: 1rem }
section[aria-live], section[aria-label=Totals] { background: none; border: 0; padding: 0 }
.good { margin: 0; color: var(--good) }
.advice { margin: 0; padding: .6rem 1rem .6rem 2rem; background: var(--warn) }
.advice { border-left: 4px solid var(--edge); border-radius: .3rem }
p.advice { padding-left: 1rem }
dl { margin: 0; display: grid; gap: .8rem 1.2rem }
.tiles { grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); gap: .8rem }
.tiles div { background: var(--card); border: 1px solid var(--line); border-radius: .6rem }
.tiles div { padding: .7rem 1rem }
.tiles b { display: block; font-size: 1.6rem; line-height: 1.3; font-weight: 600 }
.facts { grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)) }
.facts + div { margin-top: 1.2rem }
dd { margin: 0 }
b, td, .legend { font-variant-numeric: tabular-nums }
form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: end; margin: 0 0 .8rem }
label { display: flex; gap: .2rem .6rem; align-items: center; max-width: 100% }
input { min-width: 0 }
input, button { font: inherit; color: inherit; background: var(--back); min-height: 2.2rem }
input, button { border: 1px solid var(--soft); border-radius: .4rem; padding: .2rem .7rem }
button { cursor: pointer }
:focus-visible { outline: 3px solid var(--fill); outline-offset: 2px }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
caption { text-align: left; padding: .8rem 0 .2rem; color: var(--soft) }
th, td { text-align: right; vertical-align: top; padding: .45rem .6rem }
th, td { border-bottom: 1px solid var(--line) }
th:first-child { text-align: left; padding-left: 0; min-width: 9rem }
th { font-weight: 600 }
caption + thead th:first-child { text-align: right }
td, thead th { white-space: nowrap }
td small, tbody th small { display: block; font-weight: 400 }
th[aria-sort=ascending]::after { content: " ↑" }
th[aria-sort=descending]::after { content: " ↓" }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1rem; padding-top: .7rem }
svg { display: block; width: 100%; background: var(--line) }
.bar { height: 4px; border-radius: 2px; margin-top: 3px; fill: var(--fill) }
.bar.wrong { fill: var(--bad) }
.memory { height: 1.5rem; border-radius: .3rem; margin-top: .8rem }
.fills { height: 4rem; border-radius: .3rem; fill: var(--fill) }
.map { height: 8rem; border-radius: .3rem; shape-rendering: crispEdges }
.half { opacity: .65 } .low { opacity: .35 }
.legend, .keys { list-style: none; margin: .7rem 0 0; padding: 0 }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin-bottom: .7rem }
.legend i { display: inline-block; width: .8em; height: .8em; margin-right: .4em }
.legend i { border-radius: .2em }
.c0 { fill: #2f7ed8; background: #2f7ed8 } .c1 { fill: #e0812b; background: #e0812b }
.c2 { fill: #35a06a; background: #35a06a } .c3 { fill: #c8506b; background: #c8506b }
.c4 { fill: #8a65c9; background: #8a65c9 } .c5 { fill: #16a0a8; background: #16a0a8 }
.c6 { fill: #b59a1f; background: #b59a1f } .c7 { fill: #9a6a4f; background: #9a6a4f }
.crest { fill: #8490a0; background: #8490a0 } .cfree { background: var(--line) }
.legend .cfree { outline: 1px solid var(--soft) }
@media (max-width: 44rem) {
    .more { display: none }
    header, main { padding: .7rem }
    section { padding: .7rem }
    th, td { padding: .4rem .35rem }
    th:first-child { min-width: 5.5rem }
    td small.sub { display: none }
    h1 { font-size: 1.15rem }
    label { flex: 1 }
    input { flex: 1; width: 5rem }
    header { gap: .5rem; align-items: center }
    .tiles { grid-template-columns: 1fr 1fr; gap: .5rem }
    .tiles div { padding: .5rem .7rem }
    .tiles b { font-size: 1.25rem }
}
</style>
</head>
<body>
<header>
<h1>bloomshm <small>on <?= html(gethostname() ?: 'this host') ?></small></h1>
<span id="state"></span>
<button id="pause" hidden>Pause</button>
</header>
    <?php
}

function page_foot(string $nonce): void
{
    ?>
<script nonce="<?= $nonce ?>">
"use strict";
// Fetches the page anew and changes only what differs: nothing flickers, and the focus, the text
// that is being written and the place of the page stay.
const main = document.querySelector("main");
const state = document.querySelector("#state");
const pause = document.querySelector("#pause");
const opened = main.dataset.now || "";
let timer, paused = false, latest = 0;

function morph(old, fresh, refresh) {
    if (refresh && fresh.nodeType === 1 && fresh.hasAttribute("data-keep")
        && old.nodeType === 1 && old.dataset.key === fresh.dataset.key) {
        return;
    }
    if (old.nodeName !== fresh.nodeName || old.id !== fresh.id) {
        old.replaceWith(document.importNode(fresh, true));
    } else if (old.nodeType !== 1) {
        if (old.data !== fresh.data) {
            old.data = fresh.data;
        }
    } else if (!refresh || old.nodeName !== "INPUT") {
        attributes(old, fresh);
        const before = [...old.childNodes], after = [...fresh.childNodes];
        after.forEach((node, i) => before[i] ? morph(before[i], node, refresh)
            : old.append(document.importNode(node, true)));
        before.slice(after.length).forEach((node) => node.remove());
    }
}

function attributes(old, fresh) {
    for (const {name, value} of fresh.attributes) {
        if (old.getAttribute(name) !== value) {
            old.setAttribute(name, value);
        }
    }
    for (const {name} of [...old.attributes]) {
        fresh.hasAttribute(name) || old.removeAttribute(name);
    }
    if (old.nodeName === "INPUT" && old !== document.activeElement) {
        old.value = fresh.getAttribute("value") ?? "";
    }
}

async function show(query, refresh) {
    const request = ++latest;
    const asked = query + (query ? "&" : "?") + "part=1&since=" + opened
        + (refresh ? "&refresh=1&turn=" + main.dataset.turn : "");
    let said;
    try {
        const answer = await fetch(asked);
        const text = await answer.text();
        const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("main");
        if (request !== latest) {
            return;
        }
        if (fresh) {
            morph(main, fresh, refresh);
        }
        said = fresh ? "as of " + new Date().toLocaleTimeString() : "status " + answer.status;
    } catch {
        said = "no answer; trying again";
    }
    if (request === latest) {
        state.textContent = said;
        wait();
    }
}

function wait() {
    clearTimeout(timer);
    if (!paused && !document.hidden) {
        timer = setTimeout(refresh, 1000 * (main.dataset.wait || 5));
    }
}

function refresh() {
    show(location.search, true); // as it is: URLSearchParams would replace bytes that are not UTF-8
}

async function go(query, focus) {
    history.pushState(null, "", query);
    await show(query, false);
    const there = focus && document.getElementById(focus);
    const place = "[tabindex], input";
    (there && (there.matches(place) ? there : there.querySelector(place)))?.focus();
}

main.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey) {
        event.preventDefault();
        go(link.getAttribute("href"), link.dataset.focus);
    }
});
main.addEventListener("submit", (event) => {
    event.preventDefault();
    const query = "?" + new URLSearchParams(new FormData(event.target));
    go(query, event.target.querySelector("button").dataset.focus);
});
let typing;
main.addEventListener("input", (event) => {
    clearTimeout(typing);
    if (event.target.form?.hasAttribute("data-live")) {
        typing = setTimeout(() => event.target.form.requestSubmit(), 250);
    }
});
addEventListener("popstate", () => show(location.search, false));
document.addEventListener("visibilitychange", () => document.hidden || refresh());
pause.hidden = false;
pause.addEventListener("click", () => {
    paused = !paused;
    pause.textContent = paused ? "Go on" : "Pause";
    paused ? wait() : refresh();
});
wait();
</script>
</body>
</html>
    <?php
}

answer();

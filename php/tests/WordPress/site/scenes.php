<?php

declare(strict_types=1);

/*
 * Asks the pages of the installations that ../run.sh made, and prints a line for each check.
 *
 *     php scenes.php URL SEGMENTS
 *
 * SEGMENTS is the folder of the pools' segments. The extension is loaded, to flood the small one.
 */
[, $url, $segments] = $argv;

function check(string $what, mixed $wanted, mixed $got): void
{
    $show = static fn(mixed $value): string => substr((string) json_encode($value), 0, 200);
    echo $wanted === $got ? "ok - $what\n"
        : "not ok - $what: wanted {$show($wanted)}, got {$show($got)}\n";
}

/** A request that curl can do, alone or beside others. */
function request(string $host, string $path, string $pool, bool $core = false): CurlHandle
{
    $request = curl_init($GLOBALS['url'] . $path);
    $headers = ["Host: $host.test", "X-Pool: $pool", ...($core ? ['X-Core: 1'] : [])];
    curl_setopt_array($request, [
        CURLOPT_HTTPHEADER => $headers, CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 120,
    ]);

    return $request;
}

/**
 * @param list<CurlHandle> $requests
 * @return list<array{int, string}> Of each: status and answer.
 */
function at_once(array $requests): array
{
    $all = curl_multi_init();
    foreach ($requests as $request) {
        curl_multi_add_handle($all, $request);
    }
    do {
        curl_multi_exec($all, $running);
        curl_multi_select($all);
    } while ($running > 0);

    return array_map(static fn(CurlHandle $request): array => [
        curl_getinfo($request, CURLINFO_RESPONSE_CODE),
        (string) curl_multi_getcontent($request),
    ], $requests);
}

/**
 * A page without its last line, and the numbers in it: queries, process.
 *
 * @return array{string, int, int}
 */
function page(
    string $host,
    string $path = '/',
    string $pool = 'with-store',
    bool $core = false,
): array {
    [[$status, $page]] = at_once([request($host, $path, $pool, $core)]);
    if (preg_match('/<!-- (\d+) queries, pid (\d+) -->\s*$/', $page, $found) !== 1) {
        return ["status $status: " . substr($page, -300), -1, -1];
    }

    return [str_replace($found[0], '', $page), (int) $found[1], (int) $found[2]];
}

/** Whether the page of a host has a text. */
function shows(string $host, string $text, string $path = '/'): bool
{
    return str_contains(page($host, $path)[0], $text);
}

/**
 * @param list<mixed> $arguments
 */
function probe_path(string $do, array $arguments): string
{
    return "/probe.php?do=$do&arguments=" . urlencode((string) json_encode($arguments));
}

/** What an action of probe.php gives. A host may name a pool: "one@with-small". */
function probe(string $host, string $do, mixed ...$arguments): mixed
{
    [$host, $pool] = explode('@', "$host@with-store");
    [[$status, $answer]] = at_once([request($host, probe_path($do, $arguments), $pool)]);
    $value = json_decode($answer, true);

    return $status === 200 && ($value !== null || $answer === 'null')
        ? $value : "status $status: " . substr($answer, 0, 300);
}

function test_functions(): void
{
    [[, $core]] = at_once([request('one', probe_path('functions', []), 'with-store', true)]);
    $core = json_decode($core, true);
    check(
        'the functions of WordPress, with their parameters and defaults',
        $core,
        probe('one', 'functions'),
    );
    check('21 of them', true, count($core) >= 21);
    check('WordPress takes the drop-in for an external cache', true, probe('one', 'external'));
}

function test_pages(): void
{
    foreach (['/', '/?p=4', '/?cat=1', '/?author=1', '/?s=Post+3', '/?p=12345'] as $path) {
        probe('one', 'flush');
        [$cold, $first] = page('one', $path);
        [$warm, $second] = page('one', $path);
        [$plain, $without] = page('one', $path, 'with-store', true);
        check("$path: the page of the cache of WordPress", [$plain, $plain], [$cold, $warm]);
        check(
            "$path: $without queries without, $first cold, $second warm: fewer",
            true,
            $second >= 0 && $second < $first && $second < $without,
        );
    }
}

function test_edits(): void
{
    page('one');
    probe('one', 'edit', 4, 'A new title');
    check('an edited post shows at once', [true, true], [
        shows('one', 'A new title'), shows('one', 'A new title', '/?p=4'),
    ]);
    probe('one', 'comment', 4, 'A new comment');
    check('a comment shows at once', true, shows('one', 'A new comment'));
    probe('one', 'option', 'blogname', 'A new name');
    check('an option shows at once', true, shows('one', 'A new name'));
    probe('one', 'trash', 5);
    check('a post that is gone is gone at once', false, shows('one', 'Post 2 of one'));
}

function test_transients(): void
{
    $rain = ['rain' => 3];
    check('a transient is set', true, probe('one', 'set_transient', 'weather', $rain, 3600));
    check('another request reads it', $rain, probe('one', 'get_transient', 'weather'));
    check('the database has none', 0, probe('one', 'rows', '%transient%weather'));
    check('it is deleted', true, probe('one', 'delete_transient', 'weather'));
    check('and gone', false, probe('one', 'get_transient', 'weather'));
    probe('one', 'set_transient', 'short', 'value', 1);
    do {
        usleep(100_000);
        $left = probe('one', 'get_transient', 'short');
    } while ($left === 'value');
    check('another one ends by itself', false, $left);
    check('one of the network is set', true, probe('one', 'set_site_transient', 'n', 5, 60));
    check('and read', 5, probe('one', 'get_site_transient', 'n'));
}

function test_installations(): void
{
    probe('one', 'set', 'key', 'of one', 'shared', 0);
    check('another installation does not see a key', false, probe('two', 'get', 'key', 'shared'));
    probe('two', 'set', 'key', 'of two', 'shared', 0);
    check('its own key changes nothing', 'of one', probe('one', 'get', 'key', 'shared'));
    check('its flush', true, probe('two', 'flush'));
    check(
        'flushes nothing else',
        ['of one', false],
        [probe('one', 'get', 'key', 'shared'), probe('two', 'get', 'key', 'shared')],
    );
    check('its pages are its own', [true, false], [
        shows('two', 'Post 3 of two.test'), shows('two', 'of one.test'),
    ]);
}

function test_network(): void
{
    $site = probe('net', 'new_site', '/second/');
    check('a network gets a second site', 2, $site);
    [$first, $second] = [page('net')[0], page('net', '/second/')[0]];
    check('each site has its own pages', [true, true, false], [
        str_contains($first, 'Post 1 of net.test'), str_contains($second, 'Site /second/'),
        str_contains($second, 'Post 1 of net.test'),
    ]);
    probe('net', 'option', 'blogname', 'First of the network');
    check(
        'each has its own options',
        ['First of the network', 'Site /second/'],
        [probe('net', 'of_site', 1, 'blogname'), probe('net', 'of_site', 2, 'blogname')],
    );
    check('an option shows on its site only', [true, false], [
        shows('net', 'First of the network'),
        shows('net', 'First of the network', '/second/'),
    ]);
    probe('net', 'user', 'A new user');
    check('users are those of the network', 'A new user', probe('net', 'user_name'));
    probe('net', 'flush');
    $cold = page('net', '/second/')[1];
    $warm = page('net', '/second/')[1];
    check("a page of the second site: $cold queries cold, $warm warm", true, $warm < $cold);
    probe('net', 'set', 'key', 'value', 'kept', 0);
    check('a group is flushed', true, probe('net', 'flush_group', 'posts'));
    check('another one is kept', 'value', probe('net', 'get', 'key', 'kept'));
}

function test_two_at_once(): void
{
    probe('one', 'set', 'count', 0, 'test', 0);
    $path = probe_path('incr', ['count', 1, 'test']);
    $incr = static fn(): CurlHandle => request('one', $path, 'with-store');
    for ($i = 0; $i < 15; ++$i) {
        at_once([$incr(), $incr(), $incr(), $incr()]);
    }
    check('60 requests count to 60, four at once', 60, probe('one', 'get', 'count', 'test'));
    $winners = 0;
    for ($i = 0; $i < 10; ++$i) {
        $add = probe_path('add', ["lock $i", 1, 'test', 60]);
        $requests = [request('one', $add, 'with-store'), request('one', $add, 'with-store')];
        foreach (at_once($requests) as [, $answer]) {
            $winners += (int) ($answer === 'true');
        }
    }
    check('10 locks have 10 owners', 10, $winners);
}

function test_killed_workers(): void
{
    $killed = $right = 0;
    for ($i = 0; $i < 30; ++$i) {
        $requests = [];
        for ($j = 0; $j < 3; ++$j) {
            $requests[] = request('one', ['/', '/?p=4', '/?cat=1'][$j], 'with-store');
        }
        $requests[] = request('one', probe_path('edit', [6, "Title $i"]), 'with-store');
        [$answer, , $pid] = page('one');
        if ($pid <= 0) {
            throw new Exception("no worker to kill: $answer");
        }
        $killer = pcntl_fork();
        if ($killer === 0) {
            usleep(random_int(0, 60_000));
            posix_kill($pid, SIGKILL);
            posix_kill(getmypid(), SIGKILL);
        }
        foreach (at_once($requests) as [$status]) {
            $killed += (int) ($status === 502);
            $right += (int) ($status === 200);
        }
        pcntl_waitpid($killer, $status);
        while (posix_kill($pid, 0)) { // it may take a request as long as it is there
            usleep(1_000);
        }
    }
    check("$right answers, $killed of killed workers: no other", 120, $right + $killed);
    probe('one', 'edit', 6, 'After the kills');
    check(
        'an edit shows at once after the kills',
        true,
        shows('one', 'After the kills', '/?p=6'),
    );
    check('the segment is sound', [], probe('one', 'verify'));
}

function test_flood(string $segment): void
{
    page('one', '/', 'with-small');
    $flood = pcntl_fork();
    if ($flood === 0) {
        for ($i = 0; ; ++$i) {
            bloom_cache_set("flood $i", str_repeat('x', 100 + $i % 3_000));
        }
    }
    $right = 0;
    for ($i = 0; $i < 15; ++$i) {
        probe('one@with-small', 'edit', 7, "Flooded $i");
        $page = page('one', '/?p=7', 'with-small')[0];
        $right += (int) (str_contains($page, "Flooded $i") && str_contains($page, 'mood 4'));
    }
    posix_kill($flood, SIGKILL);
    pcntl_waitpid($flood, $status);
    check('1 MB, flooded: 15 edits show at once', 15, $right);
    check('records were evicted meanwhile', true, bloom_cache_info()['evictions'] > 1_000);
    check('the small segment is sound', [], probe('one@with-small', 'verify'));
}

function test_without_a_store(string $pool, bool $extension): void
{
    check("$pool: the extension", $extension, probe("one@$pool", 'extension'));
    [$plain, $queries] = page('one', '/', $pool, true);
    [$first, $cold] = page('one', '/', $pool);
    [$second, $warm] = page('one', '/', $pool);
    check("$pool: the page of the cache of WordPress", [$plain, $plain], [$first, $second]);
    check(
        "$pool: $queries queries with it, $cold and $warm with the drop-in",
        true,
        $queries > 0 && abs($queries - $cold) <= 3 && $cold === $warm,
    );
    check(
        "$pool: a value ends with its request",
        [true, false],
        [probe("one@$pool", 'set', 'key', 1), probe("one@$pool", 'get', 'key')],
    );
    check("$pool: a flush", true, probe("one@$pool", 'flush'));
    check("$pool: transients are in the database", [true, 'value', true], [
        probe("one@$pool", 'set_transient', $pool, 'value', 60),
        probe("one@$pool", 'get_transient', $pool),
        probe("one@$pool", 'rows', "%transient%$pool") > 0,
    ]);
}

test_functions();
test_pages();
test_edits();
test_transients();
test_installations();
test_network();
test_two_at_once();
test_flood($segments);
test_without_a_store('with-disabled', true);
test_without_a_store('bare-store', false);
test_killed_workers();

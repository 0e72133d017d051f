<?php

declare(strict_types=1);

/*
 * memory.php NAME WIDTH MOST MIX FOLDER <KEYS - misses at equal memory, of the record store and
 * others.
 *
 * Big-endian keys of WIDTH bytes, MOST of them at most. Each is looked up in every store, and set
 * if it is missing: a string whose length depends on the key's hash. In the MIX `even` it has 16 B
 * to 60 kB, each octave as often; in `small` nine of ten have 16 to 200 B, and the others 4 to
 * 60 kB. FOLDER has the sockets of the servers. Each store was given 32 MB, by its own setting:
 *
 *   bloomshm    bloomshm.cache_memory: all of the segment from the shards on, the index and every
 *               header included
 *   memcached   -m: the pages of its items. Its hash table, buffers and threads come on top
 *   redis       maxmemory: what it has allocated, the server's own structures included, rounded up
 *               by the allocator. The allocator's gaps come on top
 *   apcu        apc.shm_size: the whole segment
 *
 * A value that a store refuses is missing at its next request. Prints a line; fails if the record
 * store does not miss less often than every other store, unless it has every key after its first
 * request.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

const SMALLEST = 16;
const LARGEST = 60_000;

function must(bool $condition, string $message): void
{
    if (!$condition) {
        throw new RuntimeException($message);
    }
}

/** Each octave between the two is as often. */
function between(int $least, int $most, float $part): int
{
    return (int) ($least * ($most / $least) ** $part);
}

function value_length(string $key, string $mix): int
{
    $part = hexdec(substr(hash('xxh3', $key), 0, 12)) / 2 ** 48;
    if ($mix === 'even') {
        return between(SMALLEST, LARGEST, $part);
    }
    return $part < 0.9
        ? between(SMALLEST, 200, $part / 0.9)
        : between(4096, LARGEST, $part * 10 - 9);
}

/** Its text protocol, as far as it is needed: two requests. */
final class MemcachedClient
{
    /** @var resource */
    private $socket;

    public function __construct(string $path)
    {
        $this->socket = stream_socket_client("unix://$path");
    }

    public function get(string $key): ?string
    {
        fwrite($this->socket, "get $key\r\n");
        $line = fgets($this->socket);
        if ($line === "END\r\n") {
            return null;
        }
        $length = (int) strrchr($line, ' ');
        $answer = stream_get_contents($this->socket, $length + strlen("\r\nEND\r\n"));
        return substr($answer, 0, $length);
    }

    public function set(string $key, string $value): void
    {
        fwrite($this->socket, "set $key 0 0 " . strlen($value) . "\r\n$value\r\n");
        fgets($this->socket);
    }
}

/** @return list<string> */
function read_keys(int $width, int $most): array
{
    $bytes = stream_get_contents(STDIN, $width * $most);
    must($bytes !== '', 'no keys');
    return array_map('bin2hex', str_split($bytes, $width));
}

/**
 * @param list<string> $keys
 * @param Closure(string): ?string $get
 * @param Closure(string, string): mixed $set
 */
function count_misses(array $keys, string $mix, Closure $get, Closure $set): int
{
    $bytes = random_bytes(LARGEST);
    $misses = 0;
    foreach ($keys as $key) {
        $length = value_length($key, $mix);
        $found = $get($key);
        must($found === null || strlen($found) === $length, "$key: a wrong value");
        if ($found === null) {
            $misses++;
            $set($key, substr($bytes, 0, $length));
        }
    }
    return $misses;
}

[, $name, $width, $most, $mix, $folder] = $argv;
$keys = read_keys((int) $width, (int) $most);
$memcached = new MemcachedClient("$folder/memcached.sock");
$redis = new Redis();
$redis->connect("$folder/redis.sock");
$misses = [
    'bloomshm' => count_misses($keys, $mix, bloom_cache_get(...), bloom_cache_set(...)),
    'memcached' => count_misses($keys, $mix, $memcached->get(...), $memcached->set(...)),
    'redis' => count_misses(
        $keys,
        $mix,
        static fn (string $key): ?string => is_string($found = $redis->get($key)) ? $found : null,
        $redis->set(...)
    ),
    'apcu' => count_misses(
        $keys,
        $mix,
        static fn (string $key): ?string => is_string($found = apcu_fetch($key)) ? $found : null,
        apcu_store(...)
    ),
];
$best = min(array_slice($misses, 1));
printf('%-11s memory 32 MB %-5s  ', $name, $mix);
foreach ($misses as $store => $count) {
    printf('%s %5.2f %%  ', $store, 100 * $count / count($keys));
}
printf("%+5.1f %%\n", 100 - 100 * $misses['bloomshm'] / $best);
$at_first = count(array_flip($keys));
exit($misses['bloomshm'] < $best || $misses['bloomshm'] === $at_first ? 0 : 2);

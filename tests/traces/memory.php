<?php

declare(strict_types=1);

/*
 * memory.php NAME WIDTH MOST FOLDER <KEYS - misses at equal memory, of the record store and others.
 *
 * Big-endian keys of WIDTH bytes, MOST of them at most. Each is looked up in every store, and set
 * if it is missing: a string of 16 B to 60 kB, by the key's hash, each octave as often. FOLDER has
 * the sockets of the servers. Each store was given 32 MB, by its own setting:
 *
 *   bloomshm    bloomshm.cache_memory: all of the segment from the shards on, the index and every
 *               header included
 *   memcached   -m: the pages of its items. Its hash table, buffers and threads come on top
 *   redis       maxmemory: what it has allocated, the server's own structures included, rounded up
 *               by the allocator. The allocator's gaps come on top
 *   apcu        apc.shm_size: the whole segment
 *
 * A value that a store refuses is missing at its next request. Prints a line; fails if the record
 * store does not miss less often than every other store.
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

function value_length(string $key): int
{
    $part = hexdec(substr(hash('xxh3', $key), 0, 12)) / 2 ** 48;
    return (int) (SMALLEST * (LARGEST / SMALLEST) ** $part);
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
function count_misses(array $keys, Closure $get, Closure $set): int
{
    $bytes = random_bytes(LARGEST);
    $misses = 0;
    foreach ($keys as $key) {
        $length = value_length($key);
        $found = $get($key);
        must($found === null || strlen($found) === $length, "$key: a wrong value");
        if ($found === null) {
            $misses++;
            $set($key, substr($bytes, 0, $length));
        }
    }
    return $misses;
}

[, $name, $width, $most, $folder] = $argv;
$keys = read_keys((int) $width, (int) $most);
$memcached = new MemcachedClient("$folder/memcached.sock");
$redis = new Redis();
$redis->connect("$folder/redis.sock");
$misses = [
    'bloomshm' => count_misses($keys, bloom_cache_get(...), bloom_cache_set(...)),
    'memcached' => count_misses($keys, $memcached->get(...), $memcached->set(...)),
    'redis' => count_misses(
        $keys,
        static fn (string $key): ?string => is_string($found = $redis->get($key)) ? $found : null,
        $redis->set(...)
    ),
    'apcu' => count_misses(
        $keys,
        static fn (string $key): ?string => is_string($found = apcu_fetch($key)) ? $found : null,
        apcu_store(...)
    ),
];
$best = min(array_slice($misses, 1));
printf('%-11s memory 32 MB  ', $name);
foreach ($misses as $store => $count) {
    printf('%s %5.2f %%  ', $store, 100 * $count / count($keys));
}
printf("%+5.1f %%\n", 100 - 100 * $misses['bloomshm'] / $best);
exit($misses['bloomshm'] < $best ? 0 : 2);

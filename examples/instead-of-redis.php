<?php

/*
 * Two habits of sites with Redis, and what replaces them, timed in one run: examples/REDIS.md.
 *
 *     php -d extension=redis -d extension=bloomshm -d bloomshm.path=/dev/shm/ex.seg \
 *         examples/instead-of-redis.php [QUESTIONS]
 *
 * It starts a redis-server of its own on a unix socket, and ends it. QUESTIONS: how many keys
 * without a row are asked for (100,000).
 */

declare(strict_types=1);

require __DIR__ . '/support.php';

/** Starts a server without files. It ends with this process. */
function startRedis(): Redis
{
    $socket = sys_get_temp_dir() . '/examples.' . getmypid() . '.sock';
    $options = ['--port', '0', '--unixsocket', $socket, '--save', '', '--appendonly', 'no'];
    $server = proc_open(['redis-server', ...$options], [1 => ['file', '/dev/null', 'w']], $pipes);
    register_shutdown_function(static function () use ($server, $socket): void {
        proc_terminate($server);
        proc_close($server);
        @unlink($socket);
    });
    $redis = new Redis();
    for ($tries = 1;; $tries++) {
        try {
            @$redis->connect($socket);
            return $redis;
        } catch (RedisException $e) {
            $tries < 1000 || throw $e;
            usleep(10_000);
        }
    }
}

/** The first habit: a Bloom filter in a string of Redis, 10 bits a key. Each key sets 7 of them. */
final class RedisBitmap
{
    public function __construct(private Redis $redis, private string $name, private int $bits) {}

    /** @return list<int> */
    private function positions(string $key): array
    {
        [, $first, $step] = unpack('V2', hash('xxh3', $key, true));
        $positions = [];
        for ($i = 0; $i < 7; $i++) {
            $positions[] = ($first + $i * $step) % $this->bits;
        }
        return $positions;
    }

    /** One SET for all keys: SETBIT for each of them would take minutes. */
    public function load(array $keys): void
    {
        $bitmap = str_repeat("\0", intdiv($this->bits, 8) + 1);
        foreach ($keys as $key) {
            foreach ($this->positions($key) as $bit) {
                $byte = $bit >> 3;
                $bitmap[$byte] = chr(ord($bitmap[$byte]) | 0x80 >> ($bit & 7));
            }
        }
        $this->redis->set($this->name, $bitmap);
    }

    /** @return list<bool> one answer for each key, in one round trip */
    public function maybeHas(string ...$keys): array
    {
        $pipeline = $this->redis->pipeline();
        foreach ($keys as $key) {
            $command = [];
            foreach ($this->positions($key) as $bit) {
                array_push($command, 'GET', 'u1', $bit);
            }
            $pipeline->rawCommand('BITFIELD_RO', $this->name, ...$command);
        }
        $all = static fn(array $bits): bool => !in_array(0, $bits, true);
        return array_map($all, $pipeline->exec());
    }
}

/** The second habit: what the database does not have is kept too, as an empty value. */
function cached(Redis $redis, string $key, callable $load): ?string
{
    $value = $redis->get("article:$key");
    if ($value === false) {
        $value = $load($key) ?? '';
        $redis->setEx("article:$key", 300, $value);
    }
    return $value === '' ? null : $value;
}

/** The first two lines of a table. */
function head(string $what, string $redis, string $here): void
{
    echo "| $what | $redis | $here |\n|---|---:|---:|\n";
}

/** A line of a table. */
function row(string $what, float $redis, float $here, string $unit = ''): void
{
    [$redis, $here] = array_map(number_format(...), [$redis, $here]);
    echo "| $what | $redis$unit | $here$unit |\n";
}

// The rows of the database: an article behind each name of a public list.
$names = file(fetch('humannames@1.0.5') . '/list.txt', FILE_IGNORE_NEW_LINES);
$questions = (int) ($argv[1] ?? 100_000);
$absent = array_map(static fn(int $i): string => "no-article-$i", range(1, $questions));
$database = new PDO('sqlite::memory:');
$database->exec('CREATE TABLE article (name TEXT PRIMARY KEY, title TEXT) WITHOUT ROWID');
$database->beginTransaction();
$insert = $database->prepare('INSERT INTO article VALUES (?, ?)');
foreach ($names as $name) {
    $insert->execute([$name, "About $name"]);
}
$database->commit();
$select = $database->prepare('SELECT title FROM article WHERE name = ?');
$asked = 0;
$load = static function (string $name) use ($select, &$asked): ?string {
    $asked++;
    $select->execute([$name]);
    return $select->fetchColumn() ?: null;
};
$redis = startRedis();

head('a filter of ' . number_format(count($names)) . ' keys', 'bitmap in Redis', 'bloomshm');
$bitmap = new RedisBitmap($redis, 'articles', 10 * count($names));
$start = hrtime(true);
$bitmap->load($names);
$ofRedis = hrtime(true) - $start;
$info = bloom_load('articles', $names, error_rate: 0.01);
row('the batch job', $ofRedis / 1e6, 1e3 * $info['seconds'], ' ms');
row('its size', $redis->strLen('articles') / 1e3, $info['bytes'] / 1e3, ' kB');
$denied = [0, 0];
foreach (array_chunk($names, 1000) as $chunk) {
    $denied[0] += count(array_keys($bitmap->maybeHas(...$chunk), false, true));
    $denied[1] += count(array_keys(bloom_maybe_has_many('articles', $chunk), false, true));
}
row('keys wrongly denied', $denied[0], $denied[1]);
$maybe = [0, 0];
foreach (array_chunk($absent, 1000) as $chunk) {
    $maybe[0] += count(array_filter($bitmap->maybeHas(...$chunk)));
    $maybe[1] += count(array_filter(bloom_maybe_has_many('articles', $chunk)));
}
row('"maybe" for ' . number_format(count($absent)) . ' absent keys', $maybe[0], $maybe[1]);
$few = array_slice($absent, 0, 10_000);
$one = static function (callable $ask) use ($few): float {
    return nanoseconds($few, static function (array $keys) use ($ask): void {
        foreach ($keys as $key) {
            $ask($key);
        }
    });
};
$many = static function (callable $ask) use ($few): float {
    return nanoseconds($few, static function (array $keys) use ($ask): void {
        foreach (array_chunk($keys, 20) as $chunk) {
            $ask($chunk);
        }
    });
};
row(
    'a question',
    $one(static fn(string $key) => $bitmap->maybeHas($key)),
    $one(static fn(string $key) => bloom_maybe_has('articles', $key)),
    ' ns',
);
row(
    'a question of 20 asked together',
    $many(static fn(array $keys) => $bitmap->maybeHas(...$keys)),
    $many(static fn(array $keys) => bloom_maybe_has_many('articles', $keys)),
    ' ns',
);

echo "\n";
head(number_format(count($absent)) . ' absent keys', 'null caching', 'bloom_fetch');
$memory = static fn(): int => $redis->info('memory')['used_memory'];
$ways = [
    static fn(string $key): ?string => cached($redis, $key, $load),
    static fn(string $key): ?string => bloom_fetch('articles', $key, $load, ttl: 300),
];
$measure = static function (array $keys) use ($ways, &$asked): array {
    foreach ($ways as $way => $fetch) {
        $asked = 0;
        $start = hrtime(true);
        foreach ($keys as $key) {
            $fetch($key);
        }
        $times[$way] = (hrtime(true) - $start) / count($keys);
        $queries[$way] = $asked;
    }
    return [$times, $queries];
};
$before = [$memory(), bloom_cache_info()['bytes_used']];
[$times, $queries] = $measure($absent);
row('queries of the database, first time', ...$queries);
row('a key, first time', ...$times, ...['unit' => ' ns']);
[$times, $queries] = $measure($absent);
row('queries of the database, again', ...$queries);
row('a key, again', ...$times, ...['unit' => ' ns']);
$kept = [$memory() - $before[0], bloom_cache_info()['bytes_used'] - $before[1]];
row('memory for what is not there', $kept[0] / 1e3, $kept[1] / 1e3, ' kB');
$measure($few = array_slice($names, 0, 10_000));
[$times, $queries] = $measure($few);
row('an article that is kept', ...$times, ...['unit' => ' ns']);

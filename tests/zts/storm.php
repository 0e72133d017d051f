<?php

/*
 * storm.php - what a thread of storm.c does in one request: some hundred calls, drawn at random.
 */

declare(strict_types=1);

const OWN = 0;
const SHARED = 1;
const QUESTIONS = 0;
const CHANGES = 1;
const RECORDS = 2;
const REFUSED = 3;
const RECORD_KEYS = 200;

/** The keys of a thread, from 0 to below $count. */
function keys_of(int $thread, int $count): Generator
{
    for ($i = 0; $i < $count; $i++) {
        yield "$thread/$i";
    }
}

/** The value of a record: its key, and bytes that follow from the key and a number. */
function value_of(string $key, int $number): string
{
    return "$key $number " . str_repeat(md5("$key $number"), 1 + $number % 90);
}

function check_record(string $key, mixed $value): void
{
    model_count(RECORDS, 1);
    $number = (int) (explode(' ', (string) $value)[1] ?? 0);
    if ($value !== null && $value !== value_of($key, $number)) {
        model_fault("the record $key has other bytes: " . substr(var_export($value, true), 0, 100));
    }
}

/** A confirmed key of any thread. */
function ask(int $filter, string $name, int $thread): void
{
    $count = model_confirmed($filter, $thread);
    if ($count === 0) {
        return;
    }
    $keys = [];
    for ($i = 0; $i < 20; $i++) {
        $keys[] = "$thread/" . mt_rand(0, $count - 1);
    }
    if ($filter === OWN) {
        bloom_status(); // looks at the path: the filter may go on in another file
    }
    $answers = bloom_maybe_has_many($name, $keys);
    foreach ($keys as $i => $key) {
        $answers[$i] && bloom_maybe_has($name, $key) || model_fault("$name denies $key of $count");
    }
    model_count(QUESTIONS, 2 * count($keys));
}

function load_own(int $self): void
{
    $count = model_confirmed(OWN, $self) + mt_rand(0, 3);
    bloom_load("own $self", keys_of($self, $count), allow_empty: true);
    model_confirm(OWN, $self, $count);
}

function add_own(int $self): void
{
    $number = model_confirmed(OWN, $self);
    if (bloom_add("own $self", "$self/$number")) {
        model_confirm(OWN, $self, $number + 1);
    } else {
        load_own($self); // there is no such filter: the file is a new one
    }
}

function load_shared(int $threads): void
{
    bloom_load('shared', (function () use ($threads) {
        for ($thread = 0; $thread < $threads; $thread++) {
            // In a generator: the load has begun, so what is added later is in its journal. One
            // more key than is confirmed: its add may have returned just before the load began.
            yield from keys_of($thread, model_confirmed(SHARED, $thread) + 1);
        }
    })(), allow_empty: true);
}

function add_shared(int $self): void
{
    $number = model_confirmed(SHARED, $self);
    if (bloom_insert('shared', ["$self/$number"])) {
        model_confirm(SHARED, $self, $number + 1);
    }
}

function store(int $self): void
{
    $key = 'record-' . mt_rand(1, RECORD_KEYS);
    $value = value_of($key, mt_rand(0, 1000));
    match (mt_rand(0, 5)) {
        0, 1 => bloom_cache_set($key, $value),
        2 => bloom_cache_delete($key),
        3 => bloom_cache_add($key, $value),
        4 => check_record($key, bloom_cache_remember($key, fn () => $value)),
        5 => bloom_cache_set_many([$key => $value]),
    };
}

function read(): void
{
    $key = 'record-' . mt_rand(1, RECORD_KEYS);
    check_record($key, bloom_cache_get($key));
    $keys = ['record-' . mt_rand(1, RECORD_KEYS), $key];
    foreach (bloom_cache_get_many($keys) as $key => $value) {
        check_record((string) $key, $value);
    }
    check_record('0/0', bloom_fetch('own 0', '0/0', fn () => value_of('0/0', mt_rand(0, 9))));
}

function look(): void
{
    bloom_status();
    bloom_list();
    bloom_cache_info();
}

return static function (int $self, int $threads, int $seed): int {
    mt_srand($seed);
    for ($i = 0; $i < 300 && ($phase = model_goes_on()) !== 0; $i++) {
        try {
            $any = mt_rand(0, $threads - 1);
            match (mt_rand(0, 9)) {
                0 => add_own($self),
                1 => mt_rand(0, 9) === 0 ? load_own($self) : add_own($self),
                2, 3 => ask(OWN, "own $any", $any),
                4, 5 => $phase === 2 && ask(SHARED, 'shared', $any),
                6 => $phase === 2 && add_shared($self),
                7 => store($self),
                8 => read(),
                9 => $self === 0 && $phase === 2 && $i % 4 === 0 ? load_shared($threads) : look(),
            };
            model_count(CHANGES, 1);
        } catch (BloomShm\Exception $e) {
            model_count(REFUSED, 1);
            $expected = [BloomShm\Exception::UNAVAILABLE, BloomShm\Exception::TIMEOUT];
            if (!in_array($e->getCode(), $expected, true)) {
                model_fault($e->getMessage());
            }
        }
    }
    return 0;
};

<?php

/*
 * The preload script of script/test-fpm: it makes a filter in the segment of php.ini, uses it, and
 * writes down what it saw.
 *
 * The filter has the name of the pools' filters, but none of their keys: a worker that asks it
 * answers "no" for a key of its pool.
 */

declare(strict_types=1);

bloom_load('articles', ['key of the preload script']);
bloom_cache_set('record of the preload script', 1);
file_put_contents(
    __DIR__ . '/preloaded',
    json_encode([
        'path' => bloom_status()['path'],
        'found' => bloom_maybe_has('articles', 'key of the preload script'),
        'absent' => !bloom_maybe_has('articles', 'another key'),
        'record' => bloom_cache_get('record of the preload script'),
        'redirected' => ini_set('bloomshm.path', '/dev/shm/elsewhere'),
    ], JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR),
);

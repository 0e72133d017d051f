<?php

/*
 * A preload script that a fatal error ends while a loader of the extension waits in a fiber: PHP
 * does not start, and says why.
 */

declare(strict_types=1);

bloom_load('articles', ['key of the preload script']);
$loader = Fiber::suspend(...);
$fiber = new Fiber(fn () => bloom_fetch('articles', 'key of the preload script', $loader));
$fiber->start();
str_repeat('no memory has room for it', 1 << 40);

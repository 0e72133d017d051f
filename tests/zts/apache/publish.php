<?php

/*
 * publish.php - a page of tests/zts/apache: publishes the filter anew, or adds to it.
 */

declare(strict_types=1);

try {
    if (mt_rand(0, 3) === 0) {
        bloom_add('site', 'added ' . mt_rand());
    } else {
        bloom_load('site', (function () {
            for ($i = 1; $i <= 2000 + mt_rand(0, 2000); $i++) {
                yield "key $i";
            }
        })());
    }
    echo "published\n";
} catch (BloomShm\Exception $e) {
    // Two threads may publish at once; no other reason is expected.
    http_response_code($e->getCode() === BloomShm\Exception::TIMEOUT ? 200 : 500);
    error_log($e->getMessage());
}

<?php

/*
 * router.php - for PHP's built-in server: / is the page, /status the status page.
 */

declare(strict_types=1);

switch (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) {
    case '/':
        require __DIR__ . '/page.php';
        break;
    case '/status':
        require __DIR__ . '/../web/status.php';
        break;
    default:
        http_response_code(404);
        echo "There is no such page.\n";
}

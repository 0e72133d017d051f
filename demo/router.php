<?php

/*
 * router.php - for PHP's built-in server: / is the page, /status what is loaded.
 */

declare(strict_types=1);

switch (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) {
    case '/':
        require __DIR__ . '/page.php';
        break;
    case '/status':
        header('Content-Type: application/json');
        $report = ['segment' => bloom_status(), 'articles' => bloom_info('articles')];
        echo json_encode($report, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES), "\n";
        break;
    default:
        http_response_code(404);
        echo "There is no such page.\n";
}

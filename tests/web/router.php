<?php

/*
 * router.php - the page for PHP's built-in server, asked from the address that the test names.
 */

declare(strict_types=1);

$_SERVER['REMOTE_ADDR'] = $_SERVER['HTTP_X_TEST_ADDRESS'] ?? $_SERVER['REMOTE_ADDR'];
require getenv('STATUS_PAGE');

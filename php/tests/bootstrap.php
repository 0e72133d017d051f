<?php

declare(strict_types=1);

$vendor = getenv('COMPOSER_VENDOR_DIR');
require ($vendor === false ? __DIR__ . '/../vendor' : $vendor) . '/autoload.php';

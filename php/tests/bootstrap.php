<?php

declare(strict_types=1);

$vendor = getenv('COMPOSER_VENDOR_DIR');
$loader = require ($vendor === false ? __DIR__ . '/../vendor' : $vendor) . '/autoload.php';

// Tests of others, as script/test-library fetches them.
$loader->addPsr4('Cache\IntegrationTests\\', '/usr/share/php/Cache/IntegrationTests');
$tests = __DIR__ . '/../../build/library/symfony-tests/Cache/Tests';
$loader->addPsr4('Symfony\Component\Cache\Tests\\', $tests);
$loader->addPsr4('Twig\\', '/usr/share/php/Twig');

<?php

declare(strict_types=1);

use Illuminate\Foundation\Application;

// The library's own tests set this variable for their own packages; Laravel discovers providers
// there.
$vendor = dirname(__DIR__) . '/vendor';
putenv("COMPOSER_VENDOR_DIR=$vendor");
$_SERVER['COMPOSER_VENDOR_DIR'] = $_ENV['COMPOSER_VENDOR_DIR'] = $vendor;

return Application::configure(dirname(__DIR__))->withExceptions()->create();

<?php

declare(strict_types=1);

// Composer includes this file in each process. The functions of the extension are defined here only
// if it is not loaded.
if (!\extension_loaded('bloomshm')) {
    require_once __DIR__ . '/Polyfill/functions.php';
}

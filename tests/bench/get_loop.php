<?php

declare(strict_types=1);

/*
 * get_loop.php - returns a loop of gets. Each `require` compiles it anew.
 *
 * Licensed under the MIT licence; see LICENSE.
 */

return static function (array $keys): void {
    foreach ($keys as $key) {
        \bloom_cache_get($key);
    }
};

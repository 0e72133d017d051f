<?php

declare(strict_types=1);

use BloomShm\Laravel\BloomShmStore;
use Illuminate\Cache\ApcStore;
use Illuminate\Cache\ApcWrapper;
use Illuminate\Cache\Repository;

require_once dirname(__DIR__, 3) . '/build/library/laravel/vendor/autoload.php';

return static function (array $values): array {
    $gets = [];
    foreach ([new BloomShmStore('bench'), new ApcStore(new ApcWrapper(), 'bench')] as $store) {
        $store->putMany($values, 600);
        $cache = new Repository($store);
        $gets['BloomShmStore, ApcStore'][] = static fn(string $key): mixed => $store->get($key);
        $gets['Laravel\'s Repository on each'][]
            = static fn(string $key): mixed => $cache->get($key);
    }
    return $gets;
};

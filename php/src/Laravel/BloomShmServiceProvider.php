<?php

declare(strict_types=1);

namespace BloomShm\Laravel;

use Illuminate\Cache\CacheManager;
use Illuminate\Contracts\Config\Repository as Config;
use Illuminate\Contracts\Foundation\Application;
use Illuminate\Support\ServiceProvider;

/**
 * Adds the cache driver `bloomshm`, and a cache store of that name if the application has none:
 * CACHE_STORE=bloomshm is all the configuration. A store may have a `prefix` of its own; otherwise
 * it has cache.prefix.
 */
final class BloomShmServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        $config = $this->app->make(Config::class);
        if (!$config->has('cache.stores.bloomshm')) {
            $config->set('cache.stores.bloomshm', ['driver' => 'bloomshm']);
        }
        $this->callAfterResolving('cache', function (CacheManager $cache) use ($config): void {
            $make = function (Application $app, array $store) use ($cache, $config) {
                $prefix = $store['prefix'] ?? $config->get('cache.prefix');
                $prefix = is_string($prefix) ? $prefix : '';

                return $cache->repository(new BloomShmStore($prefix), $store);
            };
            $cache->extend('bloomshm', $make);
        });
    }
}

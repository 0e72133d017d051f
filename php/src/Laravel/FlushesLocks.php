<?php

declare(strict_types=1);

namespace BloomShm\Laravel;

use Illuminate\Contracts\Cache\CanFlushLocks;
use Illuminate\Contracts\Cache\Store;

// Laravel 13 flushes the locks of a store only if it implements this interface. Older versions do
// not have it: there the name stands for an interface that every store implements.
class_alias(
    interface_exists(CanFlushLocks::class) ? CanFlushLocks::class : Store::class,
    __NAMESPACE__ . '\FlushesLocks',
);

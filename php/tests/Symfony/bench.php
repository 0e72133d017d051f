<?php

declare(strict_types=1);

use BloomShm\Symfony\BloomShmAdapter;
use Symfony\Component\Cache\Adapter\ApcuAdapter;

return static function (array $values): array {
    $gets = [];
    foreach ([new BloomShmAdapter('bench'), new ApcuAdapter('bench')] as $pool) {
        foreach ($values as $key => $value) {
            $pool->save($pool->getItem($key)->set($value));
        }
        $gets[] = static fn(string $key): mixed => $pool->getItem($key)->get();
    }
    return ['BloomShmAdapter, ApcuAdapter' => $gets];
};

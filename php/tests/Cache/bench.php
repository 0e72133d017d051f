<?php

declare(strict_types=1);

use BloomShm\Cache\SimpleCache;
use Symfony\Component\Cache\Adapter\ApcuAdapter;
use Symfony\Component\Cache\Psr16Cache;

return static function (array $values): array {
    $ours = new SimpleCache('bench');
    $theirs = new Psr16Cache(new ApcuAdapter('bench'));
    $ours->setMultiple($values);
    $theirs->setMultiple($values);
    foreach ($values as $key => $value) {
        apcu_store("bare:$key", $value);
    }
    // The least that PSR-16 asks of a get.
    $least = new class ('bare:') {
        public function __construct(private string $prefix) {}

        public function get(mixed $key, mixed $default = null): mixed
        {
            if (!is_string($key) || $key === '' || strpbrk($key, '{}()/\@:') !== false) {
                throw new InvalidArgumentException('not a key');
            }
            $value = apcu_fetch($this->prefix . $key, $found);
            return $found ? $value : $default;
        }
    };
    return [
        'SimpleCache, Psr16Cache on ApcuAdapter' => [$ours->get(...), $theirs->get(...)],
        'SimpleCache, the least PSR-16 on APCu' => [$ours->get(...), $least->get(...)],
    ];
};

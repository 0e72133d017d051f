<?php

declare(strict_types=1);

/*
 * A get after the array of the request was emptied: as in the first use of a value in a request.
 * The sibling is the drop-in itself, with APCu's functions in the place of the store's.
 */
require_once __DIR__ . '/functions.php';
require_once __DIR__ . '/../../wordpress/object-cache.php';

return static function (array $values): array {
    $GLOBALS['wordpress'] = ['multisite' => false, 'suspended' => false, 'reports' => []];
    $source = (string) file_get_contents(__DIR__ . '/../../wordpress/object-cache.php');
    $class = 'declare(strict_types=1); ' . strstr($source, '#[AllowDynamicProperties]');
    $sibling = tempnam(sys_get_temp_dir(), 'apcu');
    file_put_contents($sibling, '<?php ' . strtr($class, [
        'class WP_Object_Cache' => 'class WP_Apcu_Cache',
        "extension_loaded('bloomshm')" => "extension_loaded('apcu')",
        'bloom_cache_get($prefix . $id, $none)'
            => '(($stored = apcu_fetch($prefix . $id, $there)) !== false || $there ? $stored : $none)',
        "'bloom_cache_get'" => "'apcu_fetch'",
        "'bloom_cache_add'" => "'apcu_add'",
        '"bloom_cache_$verb"' => "'apcu_store'",
    ]));
    require $sibling;
    unlink($sibling);
    // The least that WordPress asks of a get.
    $least = new class {
        /** @var array<mixed> */
        public array $cache = [];

        /** @var array<true> */
        public array $global_groups = [];

        public string $blog_prefix = '';

        public int $cache_hits = 0;

        public int $cache_misses = 0;

        /** @param array<mixed> $values */
        public function set_multiple(array $values, string $group): void
        {
            foreach ($values as $key => $value) {
                apcu_store("site:$group:$key", $value);
            }
        }

        public function get(
            mixed $key,
            mixed $group = 'default',
            mixed $force = false,
            mixed &$found = null,
        ): mixed {
            if (!is_int($key) && (!is_string($key) || trim($key) === '')) {
                return false;
            }
            if (empty($group)) {
                $group = 'default';
            }
            if (!isset($this->global_groups[$group])) {
                $key = $this->blog_prefix . $key;
            }
            $found = !$force && isset($this->cache[$group][$key]);
            if (!$found) {
                $value = apcu_fetch("site:$group:$key", $found);
                if (!$found) {
                    ++$this->cache_misses;
                    return false;
                }
                $this->cache[$group][$key] = $value;
            }
            ++$this->cache_hits;
            $value = $this->cache[$group][$key];
            return is_object($value) ? clone $value : $value;
        }
    };
    $gets = [];
    foreach ([new WP_Object_Cache(), new WP_Apcu_Cache(), $least] as $cache) {
        $cache->set_multiple($values, 'posts');
        $gets[] = static function (string $key) use ($cache): mixed {
            $cache->cache = [];
            $value = $cache->get($key, 'posts', false, $found);
            return $found ? $value : null;
        };
    }
    return [
        'WP_Object_Cache, the same file on APCu' => [$gets[0], $gets[1]],
        'WP_Object_Cache, the least on APCu' => [$gets[0], $gets[2]],
    ];
};

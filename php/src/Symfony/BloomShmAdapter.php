<?php

declare(strict_types=1);

namespace BloomShm\Symfony;

use BloomShm\Prefix;
use Symfony\Component\Cache\Adapter\AbstractAdapter;
use Symfony\Component\Cache\CacheItem;
use Symfony\Component\Cache\Marshaller\MarshallerInterface;

/**
 * A pool of Symfony's Cache component in the record store, which all processes of the host share.
 *
 * A store that is off, full or out of reach never throws: items are then misses, and a save gives
 * false. Saved items may be evicted at any time.
 */
final class BloomShmAdapter extends AbstractAdapter
{
    private const MAX_ID_BYTES = 65_535;
    private const MAX_LIFETIME = 315_360_000;

    /**
     * A pool without a namespace has this one. Without any, clear() would have to clear the whole
     * store: records of other programs, and those of bloom_fetch().
     */
    private const DEFAULT_NAMESPACE = 'symfony';

    private readonly object $miss;

    /**
     * @param string $namespace Pools of the same namespace have the same items; so have all pools
     *     without one.
     * @param int $defaultLifetime Seconds, for items that do not set their own; 0: no limit. Ten
     *     years are the most that is kept.
     * @param string|null $version The first pool with a new version clears the namespace. Name the
     *     build here, for instance, if items do not outlive a deployment.
     * @param MarshallerInterface|null $marshaller One that encrypts or compresses, for instance.
     *     null: scalars are stored as they are, and bloomshm.serializer serializes the rest.
     */
    public function __construct(
        string $namespace = '',
        int $defaultLifetime = 0,
        ?string $version = null,
        private readonly ?MarshallerInterface $marshaller = null,
    ) {
        $namespace = $namespace === '' ? self::DEFAULT_NAMESPACE : $namespace;
        $this->miss = new \stdClass();
        $this->maxIdLength = self::MAX_ID_BYTES;
        parent::__construct($namespace, $defaultLifetime);
        if ($version !== null) {
            $this->clearForNew(CacheItem::validateKey($version) . '@' . $namespace, $namespace);
        }
    }

    /**
     * A value that cannot be unserialized is a miss. The other values are returned all the same.
     *
     * @param array<mixed> $ids Strings.
     * @return array<mixed>
     */
    protected function doFetch(array $ids): array
    {
        // Makes an object of a class that is gone a miss, too.
        $handler = self::class . '::handleUnserializeCallback';
        $callback = \ini_set('unserialize_callback_func', $handler);
        try {
            $values = [];
            /** @var string $id */
            foreach ($ids as $id) {
                try {
                    $value = \bloom_cache_get($id, $this->miss);
                    if ($value !== $this->miss) {
                        $values[$id] = $this->marshaller === null
                            ? $value
                            : $this->unmarshall($value);
                    }
                } catch (\Throwable $error) {
                    $this->logger?->warning(
                        'Failed to fetch id "{id}": ' . $error->getMessage(),
                        ['id' => $id, 'exception' => $error, 'cache-adapter' => self::class],
                    );
                }
            }
            return $values;
        } finally {
            \ini_set('unserialize_callback_func', $callback);
        }
    }

    protected function doHave(string $id): bool
    {
        return \bloom_cache_has($id);
    }

    /**
     * Reads all keys of the store.
     */
    protected function doClear(string $namespace): bool
    {
        return Prefix::clear($namespace);
    }

    /**
     * @param array<mixed> $ids Strings.
     */
    protected function doDelete(array $ids): bool
    {
        if (\bloom_cache_delete_many($ids) === \count($ids)) {
            return true;
        }
        // A record whose lock was not free in time is still there.
        /** @var string $id */
        foreach ($ids as $id) {
            if (\bloom_cache_has($id)) {
                return false;
            }
        }
        return true;
    }

    /**
     * @param array<mixed> $values By id.
     * @return array<mixed> The ids that were not saved.
     * @throws \Exception A value cannot be serialized. The caller saves each of the others again.
     */
    protected function doSave(array $values, int $lifetime): array
    {
        $failed = [];
        try {
            if ($this->marshaller !== null) {
                $values = $this->marshaller->marshall($values, $failed);
            }
            foreach ($values as $id => $value) {
                if (!\bloom_cache_set((string) $id, $value, \min($lifetime, self::MAX_LIFETIME))) {
                    $failed[] = $id;
                }
            }
        } catch (\Error $error) {
            // Callers catch exceptions only.
            throw new \ErrorException($error->getMessage(), previous: $error);
        }
        return $failed ?? [];
    }

    /**
     * @throws \UnexpectedValueException A pool without a marshaller has stored it.
     */
    private function unmarshall(mixed $value): mixed
    {
        if ($this->marshaller === null || !\is_string($value)) {
            throw new \UnexpectedValueException('The value was stored without a marshaller.');
        }
        return $this->marshaller->unmarshall($value);
    }

    /**
     * The record $marker says that the namespace was cleared for this version. Each new pool reads
     * it, so that it is not among the oldest records.
     */
    private function clearForNew(string $marker, string $namespace): void
    {
        if (\bloom_cache_get($marker) !== true && $this->doClear($namespace . self::NS_SEPARATOR)) {
            \bloom_cache_set($marker, true);
        }
    }
}

<?php

declare(strict_types=1);

namespace BloomShm\Polyfill;

use BloomShm\Exception;

/**
 * What bloom_status() tells, and the failures of the polyfill.
 *
 * @internal
 */
final class Status
{
    public const REASON
        = 'the extension bloomshm is not loaded: filters answer "maybe", and each process has its own records';

    private static int $maybes = 0;
    private static ?string $lastError = null;

    /** Counts keys that are answered "maybe". */
    public static function count(int $keys): void
    {
        self::$maybes += $keys;
    }

    /** What changes or saves a filter, or saves records, cannot be done. */
    public static function unavailable(): never
    {
        self::fail(Exception::UNAVAILABLE, self::REASON);
    }

    public static function fail(int $code, string $message): never
    {
        self::$lastError = $message;
        throw new Exception($message, $code);
    }

    /**
     * What is known of a filter: null, because none is published.
     *
     * @param array<string, array<mixed>> $published
     * @return array<mixed>|null
     */
    public static function describe(string $function, string $filter, array $published = []): ?array
    {
        Arguments::name($function, $filter);
        return $published[$filter] ?? null;
    }

    /** @return array<string, mixed> As bloom_status(). */
    public static function read(): array
    {
        return [
            'available' => false,
            'reason' => self::REASON,
            'path' => '',
            'layout_version' => 0,
            'owner_uid' => 0,
            'mode' => 0,
            'filter_bytes' => 0,
            'filter_bytes_free' => 0,
            'largest_free_bytes' => 0,
            'cache_bytes' => Store::BYTES,
            'cache_bytes_free' => Store::BYTES - Store::info()['bytes_used'],
            'filters' => 0,
            'attached' => 0,
            'repairs' => 0,
            'lock_timeouts' => 0,
            'questions' => 0,
            'maybes' => 0,
            'outbox_keys' => 0,
            'outbox_bytes' => 0,
            'outbox_bytes_free' => 0,
            'unsent' => 0,
            'missing_answers' => self::$maybes,
            'last_error' => self::$lastError,
        ];
    }
}

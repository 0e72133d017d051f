<?php

declare(strict_types=1);

namespace BloomShm\Polyfill;

/**
 * Checks of arguments, with the extension's errors.
 *
 * @internal
 */
final class Arguments
{
    public const KEY_BYTES_MAX = 65535;

    private const CAPACITY_MAX = 1 << 40;
    private const SECONDS_MAX = 315360000;

    /** The name of a filter. */
    public static function name(string $function, string $name, int $number = 1, string $parameter = 'filter'): void
    {
        if ($name === '' || \strlen($name) > 63 || \str_contains($name, "\0")) {
            self::refuse($function, $number, $parameter, 'must be a filter name of 1 to 63 bytes without NUL bytes');
        }
    }

    /** The key of a record. */
    public static function key(string $function, string $key, string $parameter = 'key'): void
    {
        if (\strlen($key) > self::KEY_BYTES_MAX) {
            $message = \sprintf('must be at most %d bytes long, %d given', self::KEY_BYTES_MAX, \strlen($key));
            self::refuse($function, 1, $parameter, $message);
        }
    }

    /** Seconds that a record lives. */
    public static function ttl(string $function, int $number, ?int $ttl): void
    {
        if ($ttl < 0 || $ttl > self::SECONDS_MAX) {
            $message = \sprintf('must be 0 (no limit) or between 1 and %d seconds, %d given', self::SECONDS_MAX, $ttl);
            self::refuse($function, $number, 'ttl', $message);
        }
    }

    /** Keys that a filter holds. */
    public static function capacity(string $function, int $number, int $capacity): void
    {
        if ($capacity < 1 || $capacity > self::CAPACITY_MAX) {
            $message = \sprintf('must be between 1 and %d, %d given', self::CAPACITY_MAX, $capacity);
            self::refuse($function, $number, 'capacity', $message);
        }
    }

    /** The parameters of a filter; each comes with its number. */
    public static function parameters(
        string $function,
        int $rateNumber,
        float $rate,
        int $expansionNumber,
        int $expansion,
        int $seedNumber = 0,
        ?string $seed = null,
    ): void {
        if (!($rate > 0.0 && $rate <= 0.5)) {
            $message = \sprintf('must be greater than 0 and at most 0.5, %s given', $rate);
            self::refuse($function, $rateNumber, 'error_rate', $message);
        }
        if ($expansion !== 0 && ($expansion < 2 || $expansion > 32)) {
            $message = \sprintf('must be 0, or between 2 and 32, %d given', $expansion);
            self::refuse($function, $expansionNumber, 'expansion', $message);
        }
        if ($seed !== null && ($seed === '' || \strlen($seed) > 64)) {
            $message = \sprintf('must be between 1 and 64 bytes long, %d given', \strlen($seed));
            self::refuse($function, $seedNumber, 'seed', $message);
        }
    }

    /** What excludes each other. */
    public static function kind(
        string $function,
        int $expansionNumber,
        int $expansion,
        int $countingNumber,
        bool $counting,
        int $windowNumber = 0,
        int $window = 0,
    ): void {
        if ($window < 0 || $window > self::SECONDS_MAX) {
            $message = \sprintf('must be 0, or between 1 and %d seconds, %d given', self::SECONDS_MAX, $window);
            self::refuse($function, $windowNumber, 'window', $message);
        }
        if ($window !== 0 && $counting) {
            self::refuse($function, $countingNumber, 'counting', 'must be false for a filter with a window');
        }
        if (($window !== 0 || $counting) && $expansion !== 0 && $expansion !== 2) {
            $kind = $counting ? 'counting filter' : 'filter with a window';
            self::refuse($function, $expansionNumber, 'expansion', "must be 0 or its default for a $kind");
        }
    }

    /** The limit of a load. */
    public static function limit(string $function, ?float $rate): void
    {
        if ($rate !== null && !($rate > 0.0 && $rate <= 1.0)) {
            $message = \sprintf('must be greater than 0 and at most 1, %s given', $rate);
            self::refuse($function, 5, 'max_error_rate', $message);
        }
    }

    /** A file. */
    public static function path(string $function, int $number, string $path): void
    {
        if ($path === '') {
            self::refuse($function, $number, 'path', 'cannot be empty');
        }
        if (\str_contains($path, "\0")) {
            self::refuse($function, $number, 'path', 'must not contain any null bytes');
        }
    }

    /**
     * The keys in a list of them, under its array keys; those of another iterable are numbered.
     *
     * @param iterable<mixed, mixed> $keys
     * @param bool $rows Of an array the first column is the key.
     * @return array<string>
     */
    public static function keys(string $function, int $number, iterable $keys, bool $rows = false): array
    {
        $list = \is_array($keys) ? $keys : \iterator_to_array($keys, false);
        $argument = "$function(): Argument #$number (\$keys)";
        $index = 0;
        foreach ($list as $name => $element) {
            $list[$name] = self::element($argument, $element, $index++, $rows);
        }
        return $list;
    }

    /**
     * The keys of records in a list.
     *
     * @param array<mixed> $keys
     * @return array<string>
     */
    public static function recordKeys(string $function, array $keys): array
    {
        $found = self::keys($function, 1, $keys);
        foreach ($found as $key) {
            self::key($function, $key, 'keys');
        }
        return $found;
    }

    public static function refuse(string $function, int $number, string $parameter, string $message): never
    {
        throw new \ValueError("$function(): Argument #$number (\$$parameter) $message");
    }

    /** The type of a value, as PHP's own errors call it. */
    public static function type(mixed $value): string
    {
        $type = \get_debug_type($value);
        return \str_starts_with($type, 'resource (') ? 'resource' : $type;
    }

    private static function element(string $argument, mixed $element, int $index, bool $rows): string
    {
        $row = $rows && \is_array($element);
        if ($row && $element === []) {
            throw new \TypeError("$argument must contain rows with a first column, element $index is empty");
        }
        $value = $row ? \reset($element) : $element;
        if (\is_string($value) || \is_int($value) || \is_float($value) || $value instanceof \Stringable) {
            return (string) $value;
        }
        throw new \TypeError(\sprintf(
            '%s must contain only string, int, float%s or Stringable, %s%s given at element %d',
            $argument,
            $rows ? ', row' : '',
            $row ? 'a row that begins with ' : '',
            self::type($value),
            $index,
        ));
    }
}

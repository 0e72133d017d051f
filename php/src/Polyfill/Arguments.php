<?php

declare(strict_types=1);

namespace BloomShm\Polyfill;

/**
 * Checks of arguments, with the extension's errors. `$number` is that of the argument.
 *
 * @internal
 */
final class Arguments
{
    public const KEY_BYTES_MAX = 65535;

    private const CAPACITY_MAX = 1 << 40;
    private const SECONDS_MAX = 315360000;

    /** The name of a filter. */
    public static function name(
        string $function,
        string $name,
        int $number = 1,
        string $parameter = 'filter',
    ): void {
        if ($name === '' || \strlen($name) > 63 || \str_contains($name, "\0")) {
            $rule = 'must be a filter name of 1 to 63 bytes without NUL bytes';
            self::refuse($function, $number, $parameter, $rule);
        }
    }

    /** The key of a record. */
    public static function key(string $function, string $key, string $parameter = 'key'): void
    {
        if (\strlen($key) > self::KEY_BYTES_MAX) {
            $rule = $parameter === 'key'
                ? 'must be at most %d bytes long, %d given'
                : 'must contain keys of at most %d bytes, one has %d';
            self::refuse($function, 1, $parameter, $rule, self::KEY_BYTES_MAX, \strlen($key));
        }
    }

    /** Seconds that a record lives. */
    public static function ttl(string $function, int $number, int $ttl): void
    {
        if ($ttl < 0 || $ttl > self::SECONDS_MAX) {
            $rule = 'must be 0 (no limit) or between 1 and %d seconds, %d given';
            self::refuse($function, $number, 'ttl', $rule, self::SECONDS_MAX, $ttl);
        }
    }

    /** Keys that a filter holds. */
    public static function capacity(string $function, int $number, int $capacity): void
    {
        if ($capacity < 1 || $capacity > self::CAPACITY_MAX) {
            $rule = 'must be between 1 and %d, %d given';
            self::refuse($function, $number, 'capacity', $rule, self::CAPACITY_MAX, $capacity);
        }
    }

    /** Rate, expansion and seed of a filter. */
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
            $rule = 'must be greater than 0 and at most 0.5, %s given';
            self::refuse($function, $rateNumber, 'error_rate', $rule, $rate);
        }
        if ($expansion !== 0 && ($expansion < 2 || $expansion > 32)) {
            $rule = 'must be 0, or between 2 and 32, %d given';
            self::refuse($function, $expansionNumber, 'expansion', $rule, $expansion);
        }
        if ($seed !== null && ($seed === '' || \strlen($seed) > 64)) {
            $rule = 'must be between 1 and 64 bytes long, %d given';
            self::refuse($function, $seedNumber, 'seed', $rule, \strlen($seed));
        }
    }

    /** A load like the filter that stands keeps its seed. */
    public static function like(string $function, int $number, bool $like, ?string $seed): void
    {
        if ($like && $seed !== null) {
            $rule = 'must be null with like: the seed is that of the filter';
            self::refuse($function, $number, 'seed', $rule);
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
            $rule = 'must be 0, or between 1 and %d seconds, %d given';
            self::refuse($function, $windowNumber, 'window', $rule, self::SECONDS_MAX, $window);
        }
        if ($window !== 0 && $counting) {
            $rule = 'must be false for a filter with a window';
            self::refuse($function, $countingNumber, 'counting', $rule);
        }
        if (($window !== 0 || $counting) && $expansion !== 0 && $expansion !== 2) {
            $rule = 'must be 0 or its default for a %s';
            $kind = $counting ? 'counting filter' : 'filter with a window';
            self::refuse($function, $expansionNumber, 'expansion', $rule, $kind);
        }
    }

    /** The rate above which a load publishes nothing. */
    public static function limit(string $function, ?float $rate): void
    {
        if ($rate !== null && !($rate > 0.0 && $rate <= 1.0)) {
            $rule = 'must be greater than 0 and at most 1, %s given';
            self::refuse($function, 5, 'max_error_rate', $rule, $rate);
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
    public static function keys(
        string $function,
        int $number,
        iterable $keys,
        bool $rows = false,
    ): array {
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

    /** @param string $parameter Its name, empty for one of many. */
    public static function refuse(
        string $function,
        int $number,
        string $parameter,
        string $rule,
        int|float|string ...$values,
    ): never {
        $rule = \sprintf($rule, ...$values);
        $name = $parameter === '' ? '' : " (\$$parameter)";
        throw new \ValueError("$function(): Argument #$number$name $rule");
    }

    /** The type of a value, as PHP's own errors call it. */
    public static function type(mixed $value): string
    {
        $type = \get_debug_type($value);
        return \str_starts_with($type, 'resource (') ? 'resource' : $type;
    }

    private static function element(
        string $argument,
        mixed $element,
        int $index,
        bool $rows,
    ): string {
        $row = $rows && \is_array($element);
        if ($row && $element === []) {
            throw new \TypeError(
                "$argument must contain rows with a first column, element $index is empty",
            );
        }
        $value = $row ? \reset($element) : $element;
        if (\is_string($value) || \is_int($value) || \is_float($value)
            || $value instanceof \Stringable) {
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

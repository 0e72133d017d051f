<?php

declare(strict_types=1);

namespace BloomShm\Tests\Polyfill;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;
use PHPUnit\Framework\TestCase;

/**
 * The polyfill refuses what the extension refuses, in the same words: these tests run on both.
 */
#[Group('disabled')]
final class ArgumentsTest extends TestCase
{
    /** @return array<string, array{\Closure}> By the end of the message. */
    public static function calls(): array
    {
        $long = \str_repeat('k', 65536);
        $name = 'must be a filter name of 1 to 63 bytes without NUL bytes';
        $calls = [
            "bloom_maybe_has(): Argument #1 (\$filter) $name"
                => static fn() => \bloom_maybe_has('', 'a'),
            "bloom_add(): Argument #1 (\$filter) $name" => static fn() => \bloom_add("f\0", 'a'),
            "bloom_copy(): Argument #2 (\$to) $name" => static fn() => \bloom_copy('f', ''),
            "bloom_merge(): Argument #3 $name" => static fn() => \bloom_merge('f', 'g', ''),
            '#2 ($capacity) must be between 1 and 1099511627776, 0 given'
                => static fn() => \bloom_reserve('f', 0),
            '#3 ($error_rate) must be greater than 0 and at most 0.5, 0.6 given'
                => static fn() => \bloom_reserve('f', 1, 0.6),
            '#4 ($expansion) must be 0, or between 2 and 32, 1 given'
                => static fn() => \bloom_reserve('f', 1, 0.1, 1),
            '#5 ($window) must be 0, or between 1 and 315360000 seconds, -1 given'
                => static fn() => \bloom_reserve('f', 1, window: -1),
            '#6 ($counting) must be false for a filter with a window'
                => static fn() => \bloom_reserve('f', 1, window: 1, counting: true),
            '#4 ($expansion) must be 0 or its default for a filter with a window'
                => static fn() => \bloom_reserve('f', 1, expansion: 4, window: 1),
            '#7 ($seed) must be between 1 and 64 bytes long, 0 given'
                => static fn() => \bloom_reserve('f', 1, seed: ''),
            '#3 ($capacity) must be between 1 and 1099511627776, -1 given'
                => static fn() => \bloom_insert('f', ['a'], -1),
            '#5 ($max_error_rate) must be greater than 0 and at most 1, 1.5 given'
                => static fn() => \bloom_load('f', ['a'], max_error_rate: 1.5),
            '#6 ($expansion) must be 0 or its default for a counting filter'
                => static fn() => \bloom_load('f', ['a'], expansion: 3, counting: true),
            '#8 ($seed) must be null with like: the seed is that of the filter'
                => static fn() => \bloom_load('f', ['a'], seed: 's', like: true),
            'bloom_load_file(): Argument #2 ($path) cannot be empty'
                => static fn() => \bloom_load_file('f', ''),
            '#6 ($delimiter) must be one byte, 2 given'
                => static fn() => \bloom_load_file('f', 'x', delimiter: ', '),
            '#2 ($path) must not contain any null bytes' => static fn() => \bloom_dump('f', "\0"),
            '#4 ($ttl) must be 0 (no limit) or between 1 and 315360000 seconds, -1 given'
                => static fn() => \bloom_fetch('f', 'a', 'strlen', -1),
            '#1 ($key) must be at most 65535 bytes long, 65536 given'
                => static fn() => \bloom_cache_get($long),
            'bloom_cache_get_many(): Argument #1 ($keys) must contain keys of at most 65535 bytes, one has 65536'
                => static fn() => \bloom_cache_get_many(['a', $long]),
            '#1 ($values) must contain keys of at most 65535 bytes, one has 65536'
                => static fn() => \bloom_cache_set_many([$long => 1]),
            '#2 ($count) must be greater than 0' => static function (int $cursor = 0): void {
                \bloom_cache_scan($cursor, 0);
            },
            '#2 ($keys) must contain rows with a first column, element 1 is empty'
                => static fn() => \bloom_add_many('f', ['a', []]),
            'float, row or Stringable, a row that begins with null given at element 0'
                => static fn() => \bloom_add_many('f', new \ArrayIterator([[null]])),
            'must contain only string, int, float or Stringable, resource given at element 1'
                => static fn() => \bloom_maybe_has_many('f', [1, \STDIN]),
            'must contain only string, int, float or Stringable, stdClass given at element 0'
                => static fn() => \bloom_cache_delete_many([new \stdClass()]),
        ];
        return \array_map(static fn(\Closure $call): array => [$call], $calls);
    }

    #[DataProvider('calls')]
    public function testABadArgumentIsNamed(\Closure $call): void
    {
        $message = 'nothing was thrown';
        try {
            $call();
        } catch (\ValueError|\TypeError $error) {
            $message = $error->getMessage();
        }
        self::assertStringEndsWith((string) $this->dataName(), $message);
        self::assertMatchesRegularExpression('/^bloom_\w+\(\): Argument #\d /', $message);
    }
}

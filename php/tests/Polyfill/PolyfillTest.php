<?php

declare(strict_types=1);

namespace BloomShm\Tests\Polyfill;

use BloomShm\Exception;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;
use PHPUnit\Framework\TestCase;

/**
 * The polyfill where the extension's own tests do not apply, or say nothing of it: see phpt.txt.
 */
#[Group('only-polyfill')]
final class PolyfillTest extends TestCase
{
    private const MAYBE = 'filters answer "maybe"';

    protected function setUp(): void
    {
        \bloom_cache_clear();
    }

    public function testEveryQuestionIsAnsweredMaybe(): void
    {
        $before = \bloom_status()['missing_answers'];
        self::assertTrue(\bloom_maybe_has('f', 'key'));
        $answers = \bloom_maybe_has_many('f', ['a' => 'x', 3 => 1.5]);
        self::assertSame(['a' => true, 3 => true], $answers);
        self::assertSame($before + 3, \bloom_status()['missing_answers']);
        self::assertSame(15, \bloom_count('f', 'key'));
        self::assertFalse(\bloom_ready('f'));
        self::assertSame([], \bloom_list());
        self::assertNull(\bloom_info('f'));
        self::assertNull(\bloom_runs('f'));
        self::assertNull(\bloom_fills('f'));
    }

    public function testWhatOnlyChangesAFilterDoesNothing(): void
    {
        self::assertFalse(\bloom_add('f', 'key'));
        $keys = new \ArrayIterator(['key', 1, [2, 'second column'], 1.5]);
        self::assertSame(0, \bloom_add_many('f', $keys));
        self::assertFalse(\bloom_remove('f', 'key'));
        self::assertFalse(\bloom_drop('f'));
        self::assertFalse(\bloom_clear('f'));
    }

    /** @return array<string, array{\Closure}> */
    public static function makers(): array
    {
        return [
            'reserve' => [static fn() => \bloom_reserve('f', 10)],
            'insert' => [static fn() => \bloom_insert('f', ['key'])],
            'load' => [static fn() => \bloom_load('f', ['key'], capacity: 5, max_error_rate: 0.5)],
            'load_file' => [static fn() => \bloom_load_file('f', __FILE__)],
            'rename' => [static fn() => \bloom_rename('f', 'g')],
            'copy' => [static fn() => \bloom_copy('f', 'g')],
            'merge' => [static fn() => \bloom_merge('f', 'g', 'h')],
            'dump' => [static fn() => \bloom_dump('f', '/tmp/no such file')],
            'restore' => [static fn() => \bloom_restore('f', '/tmp/no such file')],
            'cache_dump' => [static fn() => \bloom_cache_dump('/tmp/no such file')],
            'cache_restore' => [static fn() => \bloom_cache_restore('/tmp/no such file')],
        ];
    }

    #[DataProvider('makers')]
    public function testWhatWouldCreateOrSaveIsUnavailable(\Closure $call): void
    {
        try {
            $call();
            self::fail('nothing was thrown');
        } catch (Exception $exception) {
            self::assertSame(Exception::UNAVAILABLE, $exception->getCode());
            self::assertStringContainsString(self::MAYBE, $exception->getMessage());
            self::assertSame($exception->getMessage(), \bloom_status()['last_error']);
        }
    }

    public function testStatusSaysThatTheExtensionIsMissing(): void
    {
        $status = \bloom_status();
        self::assertFalse($status['available']);
        self::assertSame([$status['reason']], \bloom_verify());
        self::assertSame(16 << 20, $status['cache_bytes']);
        self::assertSame([], \bloom_cache_classes());
    }

    public function testFetchLoadsOnce(): void
    {
        $calls = [];
        $load = static function (string $key) use (&$calls): string {
            $calls[] = $key;
            return "value of $key";
        };
        self::assertSame('value of 7', \bloom_fetch('f', '7', $load));
        self::assertSame('value of 7', \bloom_fetch('f', '7', $load));
        self::assertSame('value of 7', \bloom_fetch('g', '7', $load));
        self::assertSame(['7', '7'], $calls);
        self::assertSame([], self::scan());
        self::assertTrue(\bloom_forget('f', '7'));
        self::assertFalse(\bloom_forget('f', '7'));
        \bloom_fetch('f', '7', $load);
        self::assertCount(3, $calls);
        self::assertSame(0, \bloom_cache_clear());
        \bloom_fetch('f', '7', $load);
        self::assertCount(4, $calls);
    }

    public function testANullOfFetchIsNotRemembered(): void
    {
        // Another process may add the key meanwhile.
        self::assertNull(\bloom_fetch('f', 'key', static fn() => null));
        self::assertSame('there now', \bloom_fetch('f', 'key', static fn() => 'there now'));
        self::assertNull(\bloom_cache_remember('key', static fn() => null));
        self::assertNull(\bloom_cache_remember('key', static fn() => 'not asked'));
    }

    public function testALongKeyOfFetchIsNotStored(): void
    {
        $calls = 0;
        $load = static function () use (&$calls): int {
            return ++$calls;
        };
        $key = \str_repeat('k', 70000);
        self::assertSame([1, 2], [\bloom_fetch('f', $key, $load), \bloom_fetch('f', $key, $load)]);
    }

    public function testManyAreLoadedInOneCall(): void
    {
        \bloom_cache_set('b', 'stored');
        $asked = [];
        $load = static function (array $keys) use (&$asked): array {
            $asked[] = $keys;
            return ['7' => 'seven', 'd' => null, 'not in the list' => 1];
        };
        $keys = ['x' => 'b', 'y' => 7, 'z' => 'd', 'again' => '7'];
        $values = ['x' => 'stored', 'y' => 'seven', 'z' => null, 'again' => 'seven'];
        self::assertSame($values, \bloom_cache_remember_many($keys, $load));
        self::assertSame([['7', 'd']], $asked);
        self::assertSame($values, \bloom_cache_remember_many($keys, $load));
        self::assertFalse(\bloom_cache_has('not in the list'));

        $asked = [];
        self::assertSame(['seven', null], \bloom_fetch_many('f', ['7', 'd'], $load));
        self::assertSame(['seven', null], \bloom_fetch_many('f', ['7', 'd'], $load));
        self::assertSame([['7', 'd'], ['d']], $asked);
        self::assertSame([], \bloom_fetch_many('f', [], $load));
    }

    /** @return array<array{mixed, string}> */
    public static function badLoads(): array
    {
        $list = 'a list was returned, and no key is an index of it';
        return [
            [null, 'null returned'], [false, 'bool returned'], ['a', 'string returned'],
            [new \ArrayObject(['a' => 1]), 'ArrayObject returned'],
            [['x', 'y'], $list], [[null], $list],
        ];
    }

    #[DataProvider('badLoads')]
    public function testALoaderOfManyMustReturnAnArrayByKey(mixed $result, string $reason): void
    {
        try {
            \bloom_cache_remember_many(['a', 'b'], static fn() => $result);
            self::fail('nothing was thrown');
        } catch (\TypeError $error) {
            $argument = 'bloom_cache_remember_many(): Argument #2 ($load)';
            $expected = "$argument must return an array of values by key, $reason";
            self::assertSame($expected, $error->getMessage());
        }
        self::assertSame(0, \bloom_cache_info()['records']);
        $load = static fn() => ['a' => 'A'];
        self::assertSame(['A', null], \bloom_cache_remember_many(['a', 'b'], $load));
        self::assertSame('A', \bloom_cache_get('a'));
    }

    public function testIfOneOfManyCannotBeStoredNoneIs(): void
    {
        foreach ([static fn() => 1, \STDIN] as $value) {
            try {
                \bloom_fetch_many('f', ['a', 'b'], static fn() => ['a' => 1, 'b' => $value]);
                self::fail('nothing was thrown');
            } catch (\Exception) {
                self::assertSame(0, \bloom_cache_info()['records']);
            }
        }
        $load = static fn() => ['zero', 'one'];
        self::assertSame(['zero', 'one'], \bloom_fetch_many('f', ['0', 1], $load));
    }

    /** @return array<string, array{\Closure}> */
    public static function changes(): array
    {
        return [
            'set' => [static fn() => \bloom_cache_set('key', 'changed')],
            'delete' => [static fn() => \bloom_cache_delete('key')],
            'clear' => [static fn() => \bloom_cache_clear()],
            'clear of a prefix' => [static fn() => \bloom_cache_clear('ke')],
            'increment' => [static fn() => \bloom_cache_increment('key')],
            'a set that is refused' => [
                static fn() => \bloom_cache_set('key', \str_repeat('x', 5 << 20)),
            ],
        ];
    }

    #[DataProvider('changes')]
    public function testAChangeWhileAKeyIsLoadedStays(\Closure $change): void
    {
        $load = static function () use ($change): string {
            $change();
            return 'loaded';
        };
        self::assertSame('loaded', \bloom_cache_remember('key', $load));
        self::assertNotSame('loaded', \bloom_cache_get('key'));
    }

    public function testAChangeWhileAValueIsSerializedStays(): void
    {
        \bloom_cache_remember('key', static fn() => new Saver(['key' => 'changed']));
        self::assertSame('changed', \bloom_cache_get('key'));
        $expected = ['a' => 'changed', 'c' => 'changed'];
        $load = static fn() => ['a' => 1, 'b' => new Saver($expected), 'c' => 3];
        self::assertSame(3, \bloom_cache_remember_many(['a', 'b', 'c'], $load)[2]);
        self::assertSame($expected, \bloom_cache_get_many(['a', 'c']));
        self::assertTrue(\bloom_cache_has('b'));
    }

    public function testAnotherKeyMayBeClearedMeanwhile(): void
    {
        $load = static function (): string {
            \bloom_cache_clear('other');
            return 'loaded';
        };
        \bloom_cache_remember('key', $load);
        self::assertSame('loaded', \bloom_cache_get('key'));
    }

    public function testAValueWhoseClassThrowsIsLoadedAnew(): void
    {
        \bloom_cache_set('key', new \BloomShm\Tests\Cache\Fixture\Changed());
        self::assertSame('anew', \bloom_cache_remember('key', static fn() => 'anew'));
        self::assertSame('anew', \bloom_cache_get('key'));
    }

    public function testTheOldestAreEvicted(): void
    {
        $evictions = \bloom_cache_info()['evictions'];
        for ($i = 0; $i < 20; $i++) {
            \bloom_cache_set("key $i", \str_repeat('x', 1 << 20));
            \bloom_cache_get('key 0');
        }
        self::assertTrue(\bloom_cache_has('key 0'));
        self::assertTrue(\bloom_cache_has('key 19'));
        self::assertFalse(\bloom_cache_has('key 1'));
        self::assertLessThanOrEqual(16 << 20, \bloom_cache_info()['bytes_used']);
        self::assertGreaterThan($evictions, \bloom_cache_info()['evictions']);
    }

    public function testAppendIsBounded(): void
    {
        self::assertSame(3, \bloom_cache_append('key', 'abc', '-'));
        self::assertSame(5, \bloom_cache_append('key', 'd', '-'));
        self::assertSame('abc-d', \bloom_cache_get('key'));
        \bloom_cache_set('null', null);
        $codes = ['key' => Exception::NO_SPACE, 'null' => Exception::INCOMPATIBLE];
        foreach ($codes as $key => $code) {
            try {
                \bloom_cache_append($key, \str_repeat('x', 4 << 20));
                self::fail('nothing was thrown');
            } catch (Exception $exception) {
                self::assertSame($code, $exception->getCode());
            }
        }
        self::assertSame('abc-d', \bloom_cache_get('key'));
    }

    public function testASwapMayKeepTheTtl(): void
    {
        self::assertTrue(\bloom_cache_cas('key', null, 1, 1));
        self::assertFalse(\bloom_cache_cas('key', null, 2));
        self::assertFalse(\bloom_cache_cas('key', '1', 2));
        self::assertTrue(\bloom_cache_cas('key', 1, 2, null));
        self::assertTrue(\bloom_cache_cas('forever', null, 2, null));
        \usleep(1_200_000);
        self::assertFalse(\bloom_cache_has('key'));
        self::assertFalse(\bloom_cache_delete('key'));
        self::assertTrue(\bloom_cache_has('forever'));
    }

    public function testASwapComparesAllDigits(): void
    {
        $digits = \ini_set('serialize_precision', '3');
        try {
            \bloom_cache_set('key', 1.2341);
            self::assertFalse(\bloom_cache_cas('key', 1.2344, 'new'));
            self::assertTrue(\bloom_cache_cas('key', 1.2341, \NAN));
            self::assertFalse(\bloom_cache_cas('key', \INF, 'new'));
            self::assertTrue(\bloom_cache_cas('key', \NAN, -0.0));
            self::assertFalse(\bloom_cache_cas('key', 0.0, 'new'));
        } finally {
            \ini_set('serialize_precision', (string) $digits);
        }
    }

    public function testACountMayNeedARecord(): void
    {
        self::assertFalse(\bloom_cache_increment('key', create: false));
        self::assertFalse(\bloom_cache_decrement('key', create: false));
        self::assertSame(7, \bloom_cache_decrement('key', 3, 10));
        self::assertSame(8, \bloom_cache_increment('key', create: false));
        \bloom_cache_set('text', '8');
        \bloom_cache_set('most', \PHP_INT_MAX);
        $failures = ['text' => Exception::INCOMPATIBLE, 'most' => Exception::RANGE];
        foreach ($failures as $key => $code) {
            try {
                \bloom_cache_increment($key);
                self::fail('nothing was thrown');
            } catch (Exception $exception) {
                self::assertSame($code, $exception->getCode());
            }
        }
        try {
            \bloom_cache_decrement('key', \PHP_INT_MIN);
            self::fail('nothing was thrown');
        } catch (Exception $exception) {
            $expected = '8 minus -9223372036854775808 is outside the range of an int';
            self::assertStringStartsWith($expected, $exception->getMessage());
        }
    }

    public function testAReplacementNeedsARecord(): void
    {
        self::assertFalse(\bloom_cache_replace('key', 1));
        self::assertTrue(\bloom_cache_add('key', 1));
        self::assertFalse(\bloom_cache_add('key', 2));
        self::assertTrue(\bloom_cache_replace('key', 3));
        self::assertSame(3, \bloom_cache_get('key'));
    }

    public function testAValueThatIsTooDeepIsRefused(): void
    {
        $limit = (string) \ini_get('unserialize_max_depth');
        \ini_set('unserialize_max_depth', '100');
        $deep = [];
        for ($i = 0; $i < 200; $i++) {
            $deep = [$deep];
        }
        try {
            self::assertTrue(\bloom_cache_set('wide', \array_fill(0, 1000, [1])));
            \bloom_cache_set('key', $deep);
            self::fail('nothing was thrown');
        } catch (Exception $exception) {
            self::assertSame(Exception::INCOMPATIBLE, $exception->getCode());
            self::assertStringContainsString('100 levels', $exception->getMessage());
        } finally {
            \ini_set('unserialize_max_depth', $limit);
        }
        self::assertFalse(\bloom_cache_has('key'));
    }

    public function testAForeignCursorEnds(): void
    {
        \bloom_cache_set('key', 1);
        foreach ([\PHP_INT_MAX, -1, \PHP_INT_MIN] as $cursor) {
            self::assertSame([], \bloom_cache_scan($cursor));
            self::assertSame(0, $cursor);
        }
    }

    public function testAScanWithAPrefix(): void
    {
        \bloom_cache_set_many(['a1' => 1, 'b1' => 2, 'a2' => 3]);
        self::assertSame(['a2' => 3, 'a1' => 1], self::scan('a'));
        self::assertSame(2, \bloom_cache_clear('a'));
        self::assertSame(['b1', 2], \bloom_cache_pop_oldest());
        self::assertNull(\bloom_cache_pop_oldest());
    }

    public function testWhatExpiredIsGoneEverywhere(): void
    {
        \bloom_fetch('f', 'key', static fn() => 'fetched');
        \bloom_cache_set('key', 1, 1);
        \bloom_cache_add('forever', 2);
        self::assertTrue(\bloom_cache_touch('forever', 1));
        self::assertFalse(\bloom_cache_touch('absent', 1));
        \usleep(1_200_000);
        self::assertNull(\bloom_cache_pop_oldest());
        self::assertSame([], self::scan());
        self::assertSame('fetched', \bloom_fetch('f', 'key', static fn() => 'anew'));
    }

    /** @return array<mixed> */
    private static function scan(string $prefix = ''): array
    {
        $all = [];
        $cursor = 0;
        do {
            $all += \bloom_cache_scan($cursor, 1, $prefix);
        } while ($cursor !== 0);
        return $all;
    }
}

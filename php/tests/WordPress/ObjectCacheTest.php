<?php

declare(strict_types=1);

namespace BloomShm\Tests\WordPress;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;
use PHPUnit\Framework\TestCase;
use WP_Object_Cache;

require_once __DIR__ . '/functions.php';
require_once __DIR__ . '/../../wordpress/object-cache.php';

/**
 * What WordPress promises of its object cache, with a store and without one.
 */
#[Group('disabled')]
final class ObjectCacheTest extends TestCase
{
    protected function setUp(): void
    {
        $GLOBALS['wordpress'] = [
            'multisite' => false, 'suspended' => false, 'reports' => [], 'external' => true,
        ];
        wp_cache_init();
        wp_cache_flush();
    }

    private static function cache(): WP_Object_Cache
    {
        return $GLOBALS['wp_object_cache'];
    }

    public function testTransientsBelongIntoTheDatabaseWithoutAStore(): void
    {
        $store = in_array(getenv('BLOOMSHM_TEST_MODE'), ['store', 'small'], true);
        self::assertSame($store, self::cache()->has_store());
        foreach ($GLOBALS['wordpress']['actions']['muplugins_loaded'] ?? [] as $action) {
            $action();
        }
        self::assertSame($store, wp_using_ext_object_cache());
    }

    public function testMissIsFalseAndCounted(): void
    {
        self::assertFalse(wp_cache_get('no such key', '', false, $found));
        self::assertFalse($found);
        self::assertSame([0, 1], [self::cache()->cache_hits, self::cache()->cache_misses]);
    }

    /** @return array<array{mixed}> */
    public static function values(): array
    {
        return [
            [0], [1], [-1], [1.5], [''], ['0'], ['text'], [null], [false], [true], [[]],
            [['a' => [1, null]]], [PHP_INT_MIN],
        ];
    }

    #[DataProvider('values')]
    public function testValueComesBackAsItWas(mixed $value): void
    {
        self::assertTrue(wp_cache_add('key', $value));
        self::assertSame($value, wp_cache_get('key', '', false, $found));
        self::assertTrue($found);
        self::assertSame(1, self::cache()->cache_hits);
        self::assertFalse(wp_cache_add('key', 'other'));
        self::assertTrue(wp_cache_replace('key', 'other'));
        self::assertSame('other', wp_cache_get('key'));
        self::assertTrue(wp_cache_set('key', $value));
        self::assertSame([$value], array_values(wp_cache_get_multiple(['key'])));
        self::assertTrue(wp_cache_delete('key'));
        self::assertFalse(wp_cache_delete('key'));
        self::assertFalse(wp_cache_get('key', '', false, $found));
        self::assertFalse($found);
    }

    public function testReplaceNeedsAValue(): void
    {
        self::assertFalse(wp_cache_replace('key', 1));
        self::assertFalse(wp_cache_get('key'));
    }

    public function testGroupsAreApartAndTheEmptyOneIsTheDefault(): void
    {
        wp_cache_set('key', 'a', 'one');
        wp_cache_set('key', 'b', 'two');
        wp_cache_set('key', 'c');
        self::assertSame('a', wp_cache_get('key', 'one'));
        self::assertSame('b', wp_cache_get('key', 'two'));
        foreach (['', 'default', null, '0', 0] as $group) {
            self::assertSame('c', wp_cache_get('key', $group));
        }
        wp_cache_set('key', 'd', 7);
        self::assertSame('d', wp_cache_get('key', '7'));
    }

    public function testNumbersAndTheirTextsAreTheSameKey(): void
    {
        wp_cache_set(5, 'five');
        self::assertSame('five', wp_cache_get('5'));
        self::assertSame(['5' => 'five', '05' => false], wp_cache_get_multiple(['5', '05']));
        self::assertSame([6 => true, 7 => true], wp_cache_set_multiple([6 => 'a', '7' => 'b']));
        self::assertSame([7 => 'b', 6 => 'a', 0 => false], wp_cache_get_multiple([7, 6, 0]));
    }

    public function testObjectsAreCopiedInAndOut(): void
    {
        foreach (['add', 'set', 'replace'] as $verb) {
            $in = (object) ['word' => 'alpha'];
            self::assertTrue(("wp_cache_$verb")('key', $in));
            $in->word = 'bravo';
            $out = wp_cache_get('key');
            self::assertSame('alpha', $out->word);
            $out->word = 'charlie';
            $many = wp_cache_get_multiple(['key'])['key'];
            self::assertSame('alpha', $many->word);
            $many->word = 'delta';
            self::assertSame('alpha', wp_cache_get('key')->word);
            $verb === 'add' && wp_cache_delete('key');
        }
    }

    /** @return array<array{mixed, string}> */
    public static function wrongKeys(): array
    {
        $blank = 'Cache key must not be an empty string.';

        return [
            ['', $blank], [' ', $blank], ["\n", $blank], ["\0", $blank],
            [null, 'Cache key must be integer or non-empty string, NULL given.'],
            [false, 'Cache key must be integer or non-empty string, boolean given.'],
            [0.0, 'Cache key must be integer or non-empty string, double given.'],
        ];
    }

    #[DataProvider('wrongKeys')]
    public function testWrongKeyIsReported(mixed $key, string $report): void
    {
        $name = is_string($key) ? $key : '';
        self::assertFalse(wp_cache_add($key, 1));
        self::assertFalse(wp_cache_set($key, 1));
        self::assertFalse(wp_cache_replace($key, 1));
        self::assertFalse(wp_cache_get($key));
        self::assertFalse(wp_cache_delete($key));
        self::assertFalse(wp_cache_incr($key));
        self::assertFalse(wp_cache_decr($key));
        self::assertSame([$name => false], wp_cache_get_multiple([$key]));
        self::assertSame([$name => false], wp_cache_delete_multiple([$key]));
        $verbs = ['add', 'set', 'replace', 'get', 'delete', 'incr', 'decr', 'get_multiple'];
        $verbs[] = 'delete';
        self::assertSame(
            array_map(static fn(string $verb): string => "WP_Object_Cache::$verb: $report", $verbs),
            $GLOBALS['wordpress']['reports'],
        );
    }

    public function testSuspendedAdditionAddsNothing(): void
    {
        $GLOBALS['wordpress']['suspended'] = true;
        self::assertFalse(wp_cache_add('key', 1));
        self::assertSame(['key' => false], wp_cache_add_multiple(['key' => 1]));
        self::assertTrue(wp_cache_set('other', 1));
        $GLOBALS['wordpress']['suspended'] = false;
        self::assertFalse(wp_cache_get('key'));
        self::assertTrue(wp_cache_add('key', 1));
    }

    /** @return array<array{mixed, int, mixed, mixed}> */
    public static function counts(): array
    {
        return [
            [0, 1, 1, 0], [3, 2, 5, 1], [1, 5, 6, 0], ['4', 1, 5, 3], [1.5, 1, 2.5, 0.5],
            ['text', 2, 2, 0], [null, 2, 2, 0], [false, 1, 1, 0], [[1], 3, 3, 0], [5, -7, 0, 12],
            [PHP_INT_MAX, 1, PHP_INT_MAX + 1, PHP_INT_MAX - 1],
            [1, PHP_INT_MIN, 0, 1 - PHP_INT_MIN],
        ];
    }

    #[DataProvider('counts')]
    public function testCountsAsWordPressDoes(mixed $from, int $by, mixed $up, mixed $down): void
    {
        self::assertFalse(wp_cache_incr('key', $by));
        self::assertFalse(wp_cache_decr('key', $by));
        wp_cache_set('key', $from);
        self::assertSame($up, wp_cache_incr('key', $by));
        self::assertSame($up, wp_cache_get('key'));
        wp_cache_set('key', $from);
        self::assertSame($down, wp_cache_decr('key', $by));
        self::assertSame($down, wp_cache_get('key', '', true));
    }

    public function testManyAtOnce(): void
    {
        $three = ['a' => 1, 'b' => null, 'c' => false];
        $all = array_fill_keys(['a', 'b', 'c'], true);
        self::assertSame($all, wp_cache_add_multiple($three, 'one'));
        self::assertSame(
            ['a' => false, 'd' => true],
            wp_cache_add_multiple(['a' => 2, 'd' => 4], 'one'),
        );
        self::assertSame($all, wp_cache_set_multiple($three, 'two'));
        self::assertSame(
            ['c' => false, 'x' => false, 'a' => 1, 'b' => null],
            wp_cache_get_multiple(['c', 'x', 'a', 'b'], 'one'),
        );
        $keys = new \ArrayIterator(['a', 'b', 'c']);
        self::assertSame($three, wp_cache_get_multiple($keys, 'two', true));
        self::assertSame([], wp_cache_get_multiple([], 'one'));
        self::assertSame([], wp_cache_get_multiple('not a list', 'one'));
        self::assertSame(
            ['a' => true, 'x' => false],
            wp_cache_delete_multiple(['a', 'x'], 'one'),
        );
        self::assertSame(['a' => false], wp_cache_get_multiple(['a'], 'one'));
        self::assertSame(['a' => 1], wp_cache_get_multiple(['a'], 'two'));
    }

    public function testFlushes(): void
    {
        foreach (['one', 'two'] as $group) {
            wp_cache_set('key', 'value', $group);
        }
        self::assertTrue(wp_cache_flush_group('one'));
        self::assertFalse(wp_cache_get('key', 'one'));
        self::assertSame('value', wp_cache_get('key', 'two'));
        self::assertTrue(wp_cache_flush());
        self::assertFalse(wp_cache_get('key', 'two'));
        self::assertTrue(wp_cache_add('key', 'again', 'one'));
        self::assertTrue(wp_cache_flush_runtime());
        self::assertTrue(wp_cache_close());
    }

    public function testSiteWithoutNetworkIgnoresASwitch(): void
    {
        wp_cache_set('key', 'value');
        wp_cache_switch_to_blog(999);
        self::assertSame('value', wp_cache_get('key'));
    }

    public function testSitesOfANetworkAreApart(): void
    {
        $GLOBALS['wordpress']['multisite'] = true;
        wp_cache_init();
        wp_cache_add_global_groups(['users', 'sites']);
        wp_cache_add_global_groups('rss');
        self::assertSame(['rss', 'users', 'sites'], array_keys(self::cache()->global_groups));
        wp_cache_set('key', 'of 1');
        wp_cache_set('key', 'of all', 'users');
        wp_cache_switch_to_blog('2');
        self::assertFalse(wp_cache_get('key'));
        self::assertSame('of all', wp_cache_get('key', 'users'));
        wp_cache_set('key', 'of 2');
        wp_cache_set('key', 'of all, by 2', 'users');
        self::assertSame(['key' => 'of 2'], wp_cache_get_multiple(['key']));
        wp_cache_switch_to_blog(1);
        self::assertSame('of 1', wp_cache_get('key'));
        self::assertSame('of all, by 2', wp_cache_get('key', 'users'));
    }

    public function testResetForgetsTheSiteAndKeepsTheNetwork(): void
    {
        wp_cache_add_global_groups('users');
        wp_cache_set('key', 'value');
        wp_cache_set('key', 'value', 'users');
        wp_cache_reset();
        self::assertSame(['users'], array_keys(self::cache()->cache));
        self::assertSame(
            ['reset: WP_Object_Cache::switch_to_blog()'],
            $GLOBALS['wordpress']['reports'],
        );
    }

    public function testStatistics(): void
    {
        wp_cache_set('key', 'value', '<b>');
        wp_cache_get('key', '<b>');
        wp_cache_get('miss', '<b>');
        $this->expectOutputString('<p><strong>Cache Hits:</strong> 1<br />'
            . '<strong>Cache Misses:</strong> 1<br /></p><ul><li><strong>Group:</strong> '
            . '&lt;b&gt; - ( 1 values )</li></ul>');
        self::cache()->stats();
    }

    public function testPluginsMayUseItsProperties(): void
    {
        wp_cache_add_non_persistent_groups(['counts', 'plugins']);
        wp_cache_set('key', 'value', 'counts');
        self::assertSame('value', wp_cache_get('key', 'counts'));
        self::assertSame(['key' => 'value'], self::cache()->cache['counts']);
        self::cache()->cache = [];
        self::cache()->cache_enabled = false;
        self::assertFalse(self::cache()->cache_enabled);
        self::assertFalse(wp_cache_get('key', 'counts'));
        self::assertFalse(wp_cache_incr('key', 1, 'counts'));
    }

    public function testSupports(): void
    {
        foreach (['add', 'set', 'get', 'delete'] as $verb) {
            self::assertTrue(wp_cache_supports("{$verb}_multiple"));
        }
        self::assertTrue(wp_cache_supports('flush_runtime'));
        self::assertTrue(wp_cache_supports('flush_group'));
        self::assertFalse(wp_cache_supports('time travel'));
        self::assertFalse(wp_cache_supports(0));
    }

    public function testWhatNoStoreTakesStaysInTheRequest(): void
    {
        $closure = static fn(): int => 42;
        wp_cache_set('key', 'older');
        wp_cache_set('key', $closure);
        self::assertSame(42, wp_cache_get('key')());
        $long = str_repeat('k', 70_000);
        wp_cache_set($long, 'value');
        self::assertSame('value', wp_cache_get($long));
        self::assertSame([$long => 'value'], wp_cache_get_multiple([$long]));
        wp_cache_set('key', 'value', $long);
        self::assertSame('value', wp_cache_get('key', $long));
        wp_cache_set('key', 'value', '', -5);
        self::assertSame('value', wp_cache_get('key'));
        wp_cache_set('key', 'value', '', PHP_INT_MAX);
        self::assertSame('value', wp_cache_get('key'));
        wp_cache_set('key', 'value', '', 'soon');
        self::assertSame('value', wp_cache_get('key'));
    }
}

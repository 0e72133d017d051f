<?php

declare(strict_types=1);

namespace BloomShm\Tests\Laravel;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;

final class StoreTest extends LaravelTestCase
{
    /**
     * @return iterable<string, array{mixed}>
     */
    public static function values(): iterable
    {
        yield 'int' => [7];
        yield 'zero' => [0];
        yield 'float' => [-0.5];
        yield 'false' => [false];
        yield 'empty string' => [''];
        yield 'binary' => ["\0\xff\0"];
        yield 'array' => [['a' => [1, 2], 5 => null]];
        yield 'object' => [new \ArrayObject([1])];
        yield 'null' => [null];
    }

    #[DataProvider('values')]
    public function testAValueComesBackAsItWas(mixed $value): void
    {
        $store = $this->store();
        self::assertTrue($store->put('key', $value, 60));
        self::assertEquals($value, $store->get('key'));
        self::assertSame(get_debug_type($value), get_debug_type($store->get('key')));
        self::assertTrue($store->forever('key', $value));
        self::assertEquals(['key' => $value], $store->many(['key']));
    }

    public function testManyAnswersEveryKeyInOrder(): void
    {
        $store = $this->store();
        self::assertTrue($store->putMany(['12' => 'number', 'null' => null, 'b' => 'x'], 60));
        self::assertSame(
            ['b' => 'x', 'none' => null, 12 => 'number', 'null' => null],
            $store->many(['b', 'none', '12', 'b', 'null']),
        );
        self::assertSame('number', $store->get('12'));
        self::assertSame([], $store->many([]));
        self::assertTrue($store->putMany([], 60));
    }

    public function testAddStoresOnlyWhatIsMissing(): void
    {
        $store = $this->store();
        self::assertTrue($store->add('key', 'first', 60));
        self::assertFalse($store->add('key', 'second', 60));
        self::assertSame('first', $store->get('key'));
        self::assertTrue($store->forget('key'));
        self::assertFalse($store->forget('key'));
        self::assertTrue($store->add('key', 'third', 60));
    }

    public function testValuesExpireAndTouchKeepsThem(): void
    {
        $store = $this->store();
        $store->put('short', 1, 1);
        $store->put('touched', 1, 1);
        $store->put('zero', 1, 0);
        $store->put('negative', 1, -5);
        $store->put('long', 1, PHP_INT_MAX);
        $store->increment('short'); // keeps the limit
        self::assertTrue($store->touch('touched', 60));
        self::assertFalse($store->touch('none', 60));
        usleep(2_100_000);
        self::assertSame(
            ['short' => null, 'touched' => 1, 'zero' => 1, 'negative' => 1, 'long' => 1],
            $store->many(['short', 'touched', 'zero', 'negative', 'long']),
        );
        self::assertSame(1, $store->increment('short'));
    }

    public function testIncrement(): void
    {
        $store = $this->store();
        self::assertSame(1, $store->increment('missing'));
        self::assertSame(-3, $store->decrement('missing too', 3));
        $store->put('int', 5, 60);
        self::assertSame(8, $store->increment('int', '3'));
        self::assertSame(6, $store->decrement('int', 2));
        self::assertSame(6, $store->get('int'));
    }

    /**
     * @return iterable<string, array{mixed, int|false, mixed}>
     */
    public static function others(): iterable
    {
        yield 'numeric string' => ['41', 42, 42];
        yield 'text' => ['text', 1, 1];
        yield 'float' => [2.9, 3, 3];
        yield 'false' => [false, 1, 1];
        yield 'null' => [null, 1, 1];
        yield 'array' => [[1], false, [1]];
        yield 'largest' => [PHP_INT_MAX, false, PHP_INT_MAX];
    }

    #[DataProvider('others')]
    public function testIncrementOfWhatIsNoInt(mixed $old, int|false $result, mixed $after): void
    {
        $store = $this->store();
        $store->put('key', $old, 60);
        self::assertSame($result, $store->increment('key'));
        self::assertSame($after, $store->get('key'));
    }

    public function testTimeLimitsOfOtherTypes(): void
    {
        $store = $this->store();
        foreach (['60', 60.0, 0.5, null] as $seconds) {
            self::assertTrue($store->put('key', 1, $seconds));
            self::assertTrue($store->putMany(['key' => 2], $seconds));
            self::assertFalse($store->add('key', 3, $seconds));
            self::assertTrue($store->touch('key', $seconds));
            self::assertSame(2, $store->get('key'));
        }
    }

    public function testAValueThatCannotBeSerializedIsRefused(): void
    {
        $store = $this->store();
        self::assertFalse($store->put('key', fn() => 1, 60));
        self::assertFalse($store->add('key', fn() => 1, 60));
        self::assertFalse($store->forever('key', fn() => 1));
        self::assertFalse($store->putMany(['good' => 1, 'bad' => fn() => 1], 60));
        self::assertNull($store->get('key'));
    }

    public function testAValueThatCannotBeReadIsAMissAndTakesNoOtherDown(): void
    {
        $store = $this->store();
        $store->put('bad', new Unreadable(), 60);
        $store->put('good', 1, 60);
        self::assertNull($store->get('bad'));
        self::assertSame(['good' => 1, 'bad' => null], $store->many(['good', 'bad']));
        self::assertSame(1, $store->increment('bad'));
    }

    public function testAKeyThatIsTooLongIsAMiss(): void
    {
        $store = $this->store();
        $key = str_repeat('k', 70_000);
        self::assertFalse($store->put($key, 1, 60));
        self::assertFalse($store->putMany([$key => 1], 60));
        self::assertFalse($store->add($key, 1, 60));
        self::assertFalse($store->touch($key, 60));
        self::assertFalse($store->forget($key));
        self::assertFalse($store->increment($key));
        self::assertNull($store->get($key));
        self::assertSame([$key => null], $store->many([$key]));
        self::assertTrue($store->lock($key, 10)->get());
        self::assertFalse($store->lock($key, 10)->get());
    }

    public function testFlushTakesItsOwnPrefixOnly(): void
    {
        $stores = [];
        foreach (['', 'shop', 'shop-2'] as $prefix) {
            $stores[$prefix] = $this->store($prefix);
        }
        \bloom_cache_set('alien', 1);
        foreach (array_keys($stores) as $flushed) {
            foreach ($stores as $prefix => $store) {
                self::assertSame($prefix, $store->getPrefix());
                $store->put('key', $prefix, 60);
            }
            self::assertTrue($stores[$flushed]->flush());
            foreach ($stores as $prefix => $store) {
                self::assertSame($prefix === $flushed ? null : $prefix, $store->get('key'));
            }
        }
        self::assertSame(1, \bloom_cache_get('alien'));
        $stores['shop']->setPrefix('shop-2');
        self::assertSame('shop-2', $stores['shop']->getPrefix());
        self::assertNull($stores['shop']->get('key'));
        $stores['shop-2']->put('key', 1, 60);
        self::assertSame(1, $stores['shop']->get('key'));
    }

    #[Group('extension')]
    public function testFlushKeepsWhatFetchKeeps(): void
    {
        \bloom_load('laravel-filter', ['key']);
        \bloom_fetch('laravel-filter', 'key', fn() => 'kept');
        $this->store('')->flush();
        self::assertSame('kept', \bloom_fetch('laravel-filter', 'key', fn() => 'loaded anew'));
        \bloom_drop('laravel-filter');
    }
}

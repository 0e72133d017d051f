<?php

declare(strict_types=1);

namespace BloomShm\Tests\Symfony;

use BloomShm\Symfony\BloomShmAdapter;
use BloomShm\Tests\Symfony\Fixture\Log;
use BloomShm\Tests\Symfony\Fixture\Unreadable;
use BloomShm\Tests\Symfony\Fixture\Unwritable;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Cache\Adapter\ChainAdapter;
use Symfony\Component\Cache\Adapter\TagAwareAdapter;
use Symfony\Component\Cache\Marshaller\DefaultMarshaller;
use Symfony\Component\Cache\Marshaller\DeflateMarshaller;
use Symfony\Component\Cache\Marshaller\MarshallerInterface;
use Symfony\Component\Cache\Psr16Cache;

final class BloomShmAdapterTest extends TestCase
{
    protected function setUp(): void
    {
        \bloom_cache_clear();
    }

    public function testPoolsOfOneNamespaceShareTheirItems(): void
    {
        self::save(new BloomShmAdapter('one'), 'key', 'value');

        self::assertSame('value', self::read(new BloomShmAdapter('one'), 'key'));
        self::assertNull(self::read(new BloomShmAdapter('two'), 'key'));
        self::assertNull(self::read(new BloomShmAdapter(), 'key'));
    }

    public function testClearRemovesNothingOfOthers(): void
    {
        $load = static fn(): string => 'loaded';
        \bloom_cache_set('key', 'of the application');
        \bloom_fetch('filter', 'key', $load);
        $pools = [new BloomShmAdapter(), new BloomShmAdapter('app'), new BloomShmAdapter('app2')];
        foreach ($pools as $pool) {
            self::save($pool, 'key', 'value');
        }

        self::assertTrue($pools[0]->clear());
        self::assertTrue($pools[1]->clear());

        self::assertNull(self::read($pools[0], 'key'));
        self::assertNull(self::read($pools[1], 'key'));
        self::assertSame('value', self::read($pools[2], 'key'));
        self::assertSame('of the application', \bloom_cache_get('key'));
        if (\extension_loaded('bloomshm')) {
            $again = static fn(): string => self::fail('The record of bloom_fetch() is gone.');
            self::assertSame('loaded', \bloom_fetch('filter', 'key', $again));
        }
    }

    public function testClearOfAPrefixWalks(): void
    {
        $pool = new BloomShmAdapter('app');
        for ($i = 0; $i < 300; $i++) {
            self::save($pool, "a.$i", $i);
            self::save($pool, "b.$i", $i);
        }

        self::assertTrue($pool->clear('a.'));

        for ($i = 0; $i < 300; $i++) {
            self::assertFalse($pool->hasItem("a.$i"));
            self::assertSame($i, self::read($pool, "b.$i"));
        }
    }

    public function testANewVersionStartsEmpty(): void
    {
        $old = new BloomShmAdapter('app', 0, 'build-1');
        self::save($old, 'key', 'value');
        self::assertSame('value', self::read(new BloomShmAdapter('app', 0, 'build-1'), 'key'));

        $new = new BloomShmAdapter('app', 0, 'build-2');
        self::assertNull(self::read($new, 'key'));

        self::save($new, 'key', 'new');
        $new->clear('other');
        self::assertSame('new', self::read(new BloomShmAdapter('app', 0, 'build-2'), 'key'));
    }

    public function testAVersionClearsOneNamespaceOnly(): void
    {
        self::save(new BloomShmAdapter('app2'), 'key', 'value');
        new BloomShmAdapter('app', 0, 'build');

        self::assertSame('value', self::read(new BloomShmAdapter('app2'), 'key'));
    }

    /**
     * @return array<array{int}>
     */
    public static function lifetimes(): array
    {
        return [[1000], [315_360_000], [315_360_001], [\PHP_INT_MAX]];
    }

    #[DataProvider('lifetimes')]
    public function testAnyLifetimeIsTaken(int $seconds): void
    {
        $pool = new BloomShmAdapter('app', $seconds);
        self::save($pool, 'default', 'value');
        $soon = \min($seconds, 2 ** 40);
        self::assertTrue($pool->save($pool->getItem('own')->set('value')->expiresAfter($soon)));

        self::assertSame('value', self::read($pool, 'default'));
        self::assertSame('value', self::read($pool, 'own'));
    }

    public function testAnExpiredItemIsAMiss(): void
    {
        $pool = new BloomShmAdapter('app');
        self::save($pool, 'key', 'value');
        self::assertTrue($pool->save($pool->getItem('key')->set('new')->expiresAfter(-1)));

        self::assertFalse($pool->hasItem('key'));
    }

    /**
     * @return array<array{mixed}>
     */
    public static function values(): array
    {
        $object = new \ArrayObject([1]);
        return [[null], [false], [0], [1.5], [''], ["\0\xff"], [['a' => [1, 2]]], [$object]];
    }

    #[DataProvider('values')]
    public function testAValueComesBackAsItWas(mixed $value): void
    {
        $pool = new BloomShmAdapter('app');
        self::save($pool, 'key', $value);

        $item = $pool->getItem('key');
        self::assertTrue($item->isHit());
        self::assertEquals($value, $item->get());
        self::assertSame(\get_debug_type($value), \get_debug_type($item->get()));
        // not wrapped, not serialized twice
        self::assertEquals($value, \bloom_cache_get('app:key'));
    }

    /**
     * @return array<array{string}>
     */
    public static function keys(): array
    {
        $long = \str_repeat('k', 200_000);
        return [['123'], ["a\0b"], ["\xff\xfe"], ['ключ'], [\substr($long, 0, 65_531)], [$long]];
    }

    #[DataProvider('keys')]
    public function testKeysMayHaveAnyLengthAndBytes(string $key): void
    {
        foreach ([new BloomShmAdapter(), new BloomShmAdapter('app')] as $pool) {
            self::save($pool, $key, 'value');

            self::assertSame('value', self::read($pool, $key));
            foreach ($pool->getItems([$key, 'other']) as $name => $item) {
                self::assertSame((string) $name === $key, $item->isHit());
            }
            self::assertTrue($pool->hasItem($key));
            self::assertFalse($pool->hasItem($key . 'k'));
            self::assertTrue($pool->deleteItems([$key, 'absent']));
            self::assertFalse($pool->hasItem($key));
        }
    }

    public function testClassesThatAreGoneAndErrorsAreMissesAndAreLogged(): void
    {
        $log = new Log();
        $pool = new BloomShmAdapter('app');
        $pool->setLogger($log);
        self::save($pool, 'first', 1);
        self::save($pool, 'exception', new Unreadable(\LogicException::class));
        self::save($pool, 'error', [new Unreadable(\TypeError::class)]);
        self::save($pool, 'gone', self::makeValueOfMissingClass());
        self::save($pool, 'last', 5);

        $hits = [];
        $keys = ['first', 'exception', 'error', 'gone', 'last'];
        foreach ($pool->getItems($keys) as $key => $item) {
            $hits[$key] = $item->isHit();
        }

        self::assertSame(['first', 'last'], \array_keys(\array_filter($hits)));
        self::assertCount(5, $hits);
        self::assertSame([
            'Failed to fetch id "{id}": unreadable',
            'Failed to fetch id "{id}": unreadable',
            'Failed to fetch id "{id}": Class not found: BloomShm\Tests\Gone',
        ], $log->lines);
        self::assertFalse($pool->getItem('error')->isHit());
        self::assertSame('', \ini_get('unserialize_callback_func'));
    }

    public function testUnreadableValuesAreReplacedAndCleared(): void
    {
        $pool = new BloomShmAdapter('app');
        self::save($pool, 'key', new Unreadable(\LogicException::class));
        self::assertSame('new', $pool->get('key', static fn(): string => 'new'));
        self::assertSame('new', self::read($pool, 'key'));

        self::save($pool, 'key', new Unreadable(\LogicException::class));
        self::assertTrue($pool->clear());
        self::assertFalse($pool->hasItem('key'));
    }

    /**
     * @return array<array{mixed, string}>
     */
    public static function unstorableValues(): array
    {
        return [
            [static fn(): int => 1, 'Serialization of \'Closure\' is not allowed'],
            [new Unwritable(), 'unwritable'],
            [\STDOUT, 'resource'],
        ];
    }

    #[DataProvider('unstorableValues')]
    public function testWhatCannotBeSerializedIsNotSaved(mixed $value, string $reason): void
    {
        $log = new Log();
        $pool = new BloomShmAdapter('app');
        $pool->setLogger($log);
        self::save($pool, 'bad', 'older');
        $pool->saveDeferred($pool->getItem('first')->set(1));
        $pool->saveDeferred($pool->getItem('bad')->set($value));
        $pool->saveDeferred($pool->getItem('last')->set(3));

        self::assertFalse($pool->commit());

        self::assertSame(1, self::read($pool, 'first'));
        self::assertSame('older', self::read($pool, 'bad'));
        self::assertSame(3, self::read($pool, 'last'));
        self::assertCount(1, $log->lines);
        self::assertStringContainsString($reason, $log->lines[0]);
    }

    public function testAValueThatIsTooLargeIsNotSavedAndTheOlderOneIsGone(): void
    {
        $pool = new BloomShmAdapter('app');
        self::save($pool, 'key', 'older');
        $pool->saveDeferred($pool->getItem('key')->set(\str_repeat('x', 70 << 20)));
        $pool->saveDeferred($pool->getItem('small')->set('value'));

        self::assertFalse($pool->commit());
        self::assertFalse($pool->hasItem('key'));
        self::assertSame('value', self::read($pool, 'small'));
    }

    public function testValuesGoThroughTheMarshaller(): void
    {
        $marshaller = new DeflateMarshaller(new DefaultMarshaller(false));
        $pool = new BloomShmAdapter('app', marshaller: $marshaller);
        $value = ['text' => \str_repeat('text ', 200)];
        self::save($pool, 'key', $value);

        self::assertSame($value, self::read($pool, 'key'));
        $stored = \bloom_cache_get('app:key');
        self::assertIsString($stored);
        self::assertLessThan(200, \strlen($stored));

        \bloom_cache_set('app:key', 5); // by a pool without a marshaller
        self::assertFalse($pool->getItem('key')->isHit());
    }

    public function testWhatTheMarshallerRefusesIsNotSaved(): void
    {
        $pool = new BloomShmAdapter('app', marshaller: new DefaultMarshaller(false));
        $pool->saveDeferred($pool->getItem('bad')->set(static fn(): int => 1));
        $pool->saveDeferred($pool->getItem('good')->set(2));

        self::assertFalse($pool->commit());
        self::assertFalse($pool->hasItem('bad'));
        self::assertSame(2, self::read($pool, 'good'));
    }

    public function testAnErrorOfTheMarshallerIsAMiss(): void
    {
        $marshaller = $this->createStub(MarshallerInterface::class);
        $marshaller->method('marshall')->willReturnArgument(0);
        $marshaller->method('unmarshall')->willThrowException(new \Error('another key'));
        $pool = new BloomShmAdapter('app', marshaller: $marshaller);
        self::save($pool, 'key', 'value');

        self::assertFalse($pool->getItem('key')->isHit());
    }

    public function testVersioningNeedsNoWalk(): void
    {
        $pool = new BloomShmAdapter('app');
        $pool->enableVersioning();
        self::save($pool, 'key', 'value');
        self::assertSame('value', self::read($pool, 'key'));

        self::assertTrue($pool->clear());
        self::assertNull(self::read($pool, 'key'));
    }

    #[Group('only-disabled')]
    public function testADisabledStoreMissesAndNeverThrows(): void
    {
        $pool = new BloomShmAdapter('app', 10, 'version');
        $load = static fn(): string => 'computed';
        $cache = new Psr16Cache($pool);
        $tags = new TagAwareAdapter(new ChainAdapter([$pool]));

        self::assertFalse($pool->save($pool->getItem('key')->set('value')));
        self::assertFalse($pool->getItem('key')->isHit());
        self::assertFalse($pool->hasItem('key'));
        self::assertCount(2, \iterator_to_array($pool->getItems(['a', 'b'])));
        self::assertSame('computed', $pool->get('key', $load));
        self::assertTrue($pool->deleteItems(['a', 'b']));
        self::assertTrue($pool->clear());
        self::assertTrue($pool->clear('a'));
        self::assertFalse($cache->set('key', 'value', 10));
        self::assertSame('default', $cache->get('key', 'default'));
        self::assertSame('computed', $tags->get('key', $load));
        self::assertFalse($tags->invalidateTags(['tag']) && $tags->getItem('key')->isHit());
        $pool->enableVersioning();
        self::assertSame('computed', $pool->get('key', $load));
    }

    private static function save(BloomShmAdapter $pool, string $key, mixed $value): void
    {
        self::assertTrue($pool->save($pool->getItem($key)->set($value)));
    }

    private static function read(BloomShmAdapter $pool, string $key): mixed
    {
        return $pool->getItem($key)->get();
    }

    private static function makeValueOfMissingClass(): object
    {
        return \unserialize('O:19:"BloomShm\Tests\Gone":0:{}');
    }
}

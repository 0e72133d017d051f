<?php

declare(strict_types=1);

namespace BloomShm\Tests\Filter;

use BloomShm\Exception;
use BloomShm\Filter;
use PHPUnit\Framework\Attributes\Group;
use PHPUnit\Framework\TestCase;

final class FilterTest extends TestCase
{
    #[Group('disabled')]
    public function testAFilterThatIsMissingSaysMaybe(): void
    {
        $filter = new Filter('no such filter');
        self::assertSame('no such filter', $filter->name);
        self::assertTrue($filter->maybeHas('a key'));
        self::assertSame(['x' => true, 7 => true], $filter->maybeHasMany(['x' => 'a', 7 => 5]));
        self::assertFalse($filter->add('a key'));
        self::assertNull($filter->info());
        $load = static fn(string $key): string => "loaded $key";
        self::assertSame('loaded a', $filter->fetch('a', $load));
    }

    #[Group('disabled')]
    public function testANameIsCheckedWhenItIsUsed(): void
    {
        $filter = new Filter('');
        $this->expectException(\ValueError::class);
        $this->expectExceptionMessage('bloom_maybe_has(): Argument #1 ($filter) must be a');
        $filter->maybeHas('a key');
    }

    #[Group('disabled')]
    public function testAPageAsksItsBackendOnce(): void
    {
        $asked = [];
        $load = static function (array $keys) use (&$asked): array {
            $asked[] = $keys;
            return ['7' => 'seven', 'b' => 'B'];
        };
        $keys = ['x' => 'a', 'y' => 7, 'z' => 'b', 'again' => '7'];
        $values = ['x' => null, 'y' => 'seven', 'z' => 'B', 'again' => 'seven'];
        self::assertSame($values, (new Filter('page'))->fetchMany($keys, $load, 60));
        self::assertSame([['a', '7', 'b']], $asked);
    }

    #[Group('extension')]
    public function testALoadedFilterSaysNo(): void
    {
        $filter = new Filter('words');
        $info = $filter->load(['one', 'two', 3]);
        self::assertSame([3, 3], [$info['keys'], $info['items']]);
        self::assertTrue($filter->maybeHas('3'));
        $absent = \array_map(static fn(int $i): string => "absent $i", \range(1, 1000));
        $wrong = \count(\array_filter($filter->maybeHasMany($absent)));
        self::assertLessThan(100, $wrong);

        $key = $absent[\array_search(false, $filter->maybeHasMany($absent), true)];
        self::assertNull($filter->fetch($key, static fn() => self::fail('the filter says no')));
        self::assertTrue($filter->add($key));
        self::assertSame('loaded', $filter->fetch($key, static fn(): string => 'loaded'));
        self::assertSame('loaded', $filter->fetch($key, static fn() => self::fail('it is stored')));
        self::assertSame(4, $filter->info()['items'] ?? null);
        \bloom_drop('words');
    }

    #[Group('extension')]
    public function testEveryOptionOfALoadArrives(): void
    {
        $filter = new Filter('options');
        $info = $filter->load(
            ['a'],
            errorRate: 0.001,
            capacity: 5000,
            maxErrorRate: 0.5,
            expansion: 0,
            counting: true,
            seed: 'seed',
            allowEmpty: true,
        );
        self::assertSame('counting', $info['type']);
        self::assertSame([0.001, 0], [$info['error_rate'], $info['expansion']]);
        self::assertGreaterThanOrEqual(5000, $info['capacity']);
        self::assertSame(0, $filter->load([], allowEmpty: true)['items']);
        \bloom_drop('options');
        self::assertNull($filter->info());
    }

    #[Group('only-disabled')]
    public function testALoadThatCannotPublishThrows(): void
    {
        $this->expectException(Exception::class);
        $this->expectExceptionCode(Exception::UNAVAILABLE);
        (new Filter('f'))->load(['a']);
    }
}

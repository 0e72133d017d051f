<?php

declare(strict_types=1);

namespace BloomShm\Tests\Laravel;

use BloomShm\Tests\Patience;
use BloomShm\Tests\Symfony\Fixture\Child;
use Illuminate\Support\Facades\Cache;
use PHPUnit\Framework\Attributes\Group;

/**
 * Several processes at once.
 */
#[Group('extension')]
final class ProcessesTest extends LaravelTestCase
{
    private const SECONDS = 2;

    private string $folder;

    protected function setUp(): void
    {
        parent::setUp();
        $this->folder = (string) tempnam('/dev/shm', 'bloomshm-laravel.');
        unlink($this->folder);
        mkdir($this->folder);
    }

    protected function tearDown(): void
    {
        array_map(unlink(...), glob("$this->folder/*") ?: []);
        rmdir($this->folder);
        parent::tearDown();
    }

    public function testWhatOneProcessStoresTheOtherFinds(): void
    {
        Child::run(function (): void {
            Cache::put('key', ['a' => 1], 60);
            Cache::tags('colour')->put('red', 1, 60);
            Cache::tags('feel')->put('soft', 2, 60);
        })->result();
        self::assertSame(['a' => 1], Cache::get('key'));
        self::assertSame(1, Cache::tags('colour')->get('red'));
        Child::run(fn() => Cache::tags('colour')->flush())->result();
        self::assertNull(Cache::tags('colour')->get('red'));
        self::assertSame(2, Cache::tags('feel')->get('soft'));
        Child::run(fn() => Cache::flush())->result();
        self::assertNull(Cache::get('key'));
    }

    public function testNoIncrementAndNoAddIsLost(): void
    {
        $work = function (): int {
            $added = 0;
            for ($i = 0; $i < 2000; $i++) {
                Patience::with(fn() => Cache::increment('count'));
                $added += (int) Patience::with(fn() => Cache::add("once $i", getmypid(), 60));
            }

            return $added;
        };
        $child = Child::run($work);
        self::assertSame(2000, $work() + $child->result());
        self::assertSame(4000, Cache::get('count'));
    }

    public function testFourProcessesExcludeEachOther(): void
    {
        file_put_contents("$this->folder/count", '0');
        $work = function (): int {
            $overlaps = 0;
            for ($i = 0; $i < 100; $i++) {
                $lock = $this->store()->lock('name', 30)->betweenBlockedAttemptsSleepFor(1);
                $overlaps += $lock->block(60, $this->alone(...));
            }

            return $overlaps;
        };
        $children = array_map(fn() => Child::run($work), range(1, 3));
        self::assertSame(0, $work());
        self::assertSame([0, 0, 0], array_map(fn(Child $child) => $child->result(), $children));
        self::assertSame('400', file_get_contents("$this->folder/count"));
    }

    public function testAKilledOwnerKeepsTheOthersOutUntilItsTimeLimit(): void
    {
        for ($round = 0; $round < 3; $round++) {
            $owner = Child::run(function () use ($round): void {
                $lock = $this->store()->lock('name', self::SECONDS);
                do {
                    $begun = microtime(true);
                } while (!$lock->get());
                file_put_contents("$this->folder/begun.$round.new", sprintf('%.6F', $begun));
                rename("$this->folder/begun.$round.new", "$this->folder/begun.$round");
                sleep(60);
            });
            $this->await("$this->folder/begun.$round");
            posix_kill($owner->pid, SIGKILL);
            $ends = self::SECONDS + (float) file_get_contents("$this->folder/begun.$round");
            $waiting = array_map(fn() => Child::run(function (): array {
                $lock = $this->store()->lock('name', 30)->betweenBlockedAttemptsSleepFor(1);
                $lock->block(30);
                $in = microtime(true);
                usleep(5000);
                $out = microtime(true);
                $lock->release();

                return [$in, $out];
            }), range(1, 3));
            $stays = array_map(fn(Child $child) => $child->result(), $waiting);
            sort($stays);
            self::assertGreaterThanOrEqual($ends, $stays[0][0]);
            self::assertGreaterThanOrEqual($stays[0][1], $stays[1][0]);
            self::assertGreaterThanOrEqual($stays[1][1], $stays[2][0]);
        }
    }

    public function testProcessesThatAreKilledAnywhereLeaveNoLockForever(): void
    {
        $work = function (): void {
            while (true) {
                $lock = $this->store()->lock('name', 1);
                $lock->get() && $lock->refresh() && $lock->release();
            }
        };
        for ($round = 0; $round < 20; $round++) {
            $children = [Child::run($work), Child::run($work)];
            usleep(random_int(1000, 20_000));
            unset($children); // killed
        }
        $lock = $this->store()->lock('name', 10)->betweenBlockedAttemptsSleepFor(5);
        self::assertTrue($lock->block(30));
        self::assertFalse($this->store()->lock('name', 10)->get());
        self::assertTrue($lock->release());
        self::assertSame([], \bloom_verify());
    }

    /**
     * A process is stopped until it happens to hold the lock, and goes on after the store has given
     * up once.
     */
    public function testAChangeWaitsForAProcessThatIsNotRunning(): void
    {
        $busy = Child::run(static function (): void {
            while (true) {
                \bloom_cache_set('busy', str_repeat('x', 2000));
            }
        });
        $changes = [
            'flush of a tag' => fn() => Cache::tags('tag')->flush(),
            'put' => fn() => Cache::put('key', 'new', 60),
            'forget' => fn() => Cache::forget('key'),
            'flush' => fn() => Cache::flush(),
            'release' => fn() => Cache::lock('name', 60, 'me')->release(),
        ];
        foreach ($changes as $change => $make) {
            Patience::with(fn() => Cache::tags('tag')->put('key', 'old', 60));
            Patience::with(fn() => Cache::put('key', 'old', 60));
            Patience::with(fn() => Cache::lock('name', 60, 'me')->get());
            for ($i = 0, $free = true; $free && $i < 2000; $i++) {
                usleep(500);
                posix_kill($busy->pid, SIGSTOP);
                $free = \bloom_cache_set('probe', 1);
                $free && posix_kill($busy->pid, SIGCONT);
            }
            self::assertFalse($free);
            $refused = \bloom_cache_info()['lock_timeouts'];
            $waker = Child::run(static function () use ($busy, $refused): void {
                while (\bloom_cache_info()['lock_timeouts'] === $refused) {
                    usleep(1000);
                }
                posix_kill($busy->pid, SIGCONT);
            });
            self::assertTrue($make(), $change);
            unset($waker);
            posix_kill($busy->pid, SIGCONT);
            self::assertSame(
                str_starts_with($change, 'flush') ? null : 'old',
                Cache::tags('tag')->get('key'),
            );
            self::assertSame(
                match ($change) {
                    'put' => 'new', 'forget', 'flush' => null, default => 'old',
                },
                Cache::get('key'),
            );
        }
    }

    public function testAFloodEvictsAndFalsifiesNothing(): void
    {
        $flood = Child::run(function (): void {
            $store = $this->store('flood');
            for ($i = 0;; $i++) {
                $store->put("key $i", str_repeat('x', 100 + $i % 3000), 60);
            }
        });
        $right = $wrong = $stale = $released = 0;
        for ($i = 0; $i < 2000; $i++) {
            $value = ["value of $i", str_repeat('v', $i % 500)];
            $put = Cache::put('key ' . $i % 50, $value, 60); // false: the lock was not to be had
            $found = Cache::get('key ' . $i % 50);
            $right += (int) ($found === $value);
            $wrong += (int) ($put && $found !== $value && $found !== null);
            $tagged = Cache::tags('tag ' . $i % 5);
            $tagged->put('key', $i, 60);
            $stale += (int) ($tagged->flush() && $tagged->get('key') !== null);
            $lock = Cache::lock('name ' . $i % 5, 60);
            $released += (int) ($lock->get() && $lock->release());
            self::assertSame('value', Cache::remember("remembered $i", 60, fn() => 'value'));
        }
        self::assertSame([0, 0], [$wrong, $stale]);
        self::assertGreaterThan(0, $right);
        self::assertGreaterThan(0, $released);
        self::assertTrue(posix_kill($flood->pid, 0));
    }

    /** 1 if another process is here, too. The count loses a step then. */
    private function alone(): int
    {
        $others = (int) (@mkdir("$this->folder/inside") === false);
        $count = (int) file_get_contents("$this->folder/count");
        usleep(random_int(0, 300));
        file_put_contents("$this->folder/count", (string) ($count + 1));
        $others || rmdir("$this->folder/inside");

        return $others;
    }

    private function await(string $file): void
    {
        for ($i = 0; $i < 30_000 && !is_file($file); $i++) {
            usleep(1000);
            clearstatcache();
        }
        self::assertFileExists($file);
    }
}

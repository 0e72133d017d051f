<?php

declare(strict_types=1);

namespace BloomShm\Tests\WordPress;

use BloomShm\Tests\Patience;
use PHPUnit\Framework\Attributes\Group;
use PHPUnit\Framework\TestCase;
use WP_Object_Cache;

require_once __DIR__ . '/functions.php';
require_once __DIR__ . '/../../wordpress/object-cache.php';

/**
 * What requests see of each other. Each WP_Object_Cache stands for a request; where processes must
 * run at once, they are forked.
 */
#[Group('extension')]
final class SharedTest extends TestCase
{
    private WP_Object_Cache $one;

    private WP_Object_Cache $two;

    protected function setUp(): void
    {
        $GLOBALS['wordpress'] = ['multisite' => false, 'suspended' => false, 'reports' => []];
        $this->one = new WP_Object_Cache();
        $this->two = new WP_Object_Cache();
        $this->one->flush();
    }

    /**
     * Runs each function in a process of its own, all at once, and waits for them.
     */
    private static function atOnce(callable ...$functions): void
    {
        $processes = [];
        foreach ($functions as $function) {
            $process = pcntl_fork();
            if ($process === 0) {
                try {
                    $function();
                } finally {
                    // Not exit(): the tests' own shutdown belongs to the parent.
                    posix_kill(posix_getpid(), SIGKILL);
                }
            }
            $processes[] = $process;
        }
        foreach ($processes as $process) {
            pcntl_waitpid($process, $status);
        }
    }

    public function testValuesOfAllTypesReachOtherRequests(): void
    {
        $values = [0, 1.5, '', 'text', null, false, true, [1, 'a' => null], (object) ['a' => 1]];
        foreach ($values as $key => $value) {
            self::assertTrue($this->one->set($key, $value, 'types'));
            self::assertEquals($value, $this->two->get($key, 'types', false, $found));
            self::assertTrue($found);
        }
        $three = new WP_Object_Cache();
        self::assertEquals($values, $three->get_multiple(array_keys($values), 'types'));
        self::assertSame(count($values), $three->cache_hits);
        self::assertTrue($three->get_multiple([4], 'types') === [4 => null]);
    }

    public function testAddReplaceAndDeleteAskTheStore(): void
    {
        self::assertFalse($this->one->replace('key', 0));
        self::assertTrue($this->one->add('key', 1));
        self::assertFalse($this->two->add('key', 2));
        self::assertTrue($this->two->replace('key', 3));
        self::assertSame(1, $this->one->get('key'));
        self::assertSame(3, $this->one->get('key', 'default', true));
        self::assertTrue($this->two->delete('key'));
        self::assertSame(3, $this->one->get('key'));
        self::assertSame(['key' => 3], $this->one->get_multiple(['key']));
        self::assertSame(['key' => false], $this->one->get_multiple(['key'], '', true));
        self::assertFalse($this->one->get('key'));
        self::assertFalse($this->one->delete('key'));
        self::assertTrue($this->one->add('key', 4));
    }

    public function testForceForgetsWhatTheStoreHasNoMore(): void
    {
        $this->one->set('key', 1);
        $this->two->delete('key');
        self::assertSame(1, $this->one->get('key'));
        self::assertFalse($this->one->get('key', '', true, $found));
        self::assertFalse($found);
        self::assertFalse($this->one->get('key'));
    }

    public function testCountsAreThoseOfTheStore(): void
    {
        $this->one->set('key', 5);
        self::assertSame(7, $this->two->incr('key', 2));
        self::assertSame(6, $this->one->decr('key'));
        self::assertSame(0, $this->two->decr('key', 100));
        self::assertSame(1, $this->one->incr('key'));
        $this->two->delete('key');
        self::assertFalse($this->one->incr('key'));
        self::assertFalse($this->one->get('key'));
        $this->one->set('key', null);
        self::assertSame(3, $this->two->incr('key', 3));
        self::assertSame(3, $this->one->get('key', '', true));
    }

    public function testCountKeepsItsTimeLimit(): void
    {
        $this->one->set('key', 5, '', 1);
        self::assertSame(6, $this->one->incr('key'));
        $this->one->set('other', 5, '', -1);
        do {
            usleep(100_000);
            $left = $this->two->get_multiple(['key', 'other'], '', true);
        } while ($left !== ['key' => false, 'other' => false]);
        self::assertFalse($this->two->get('key', '', true));
    }

    public function testCountsOfTwoProcessesAddUp(): void
    {
        $this->one->set('up', 0);
        $this->one->set('both', 20_000);
        $count = static function (): void {
            $cache = new WP_Object_Cache();
            for ($i = 0; $i < 5_000; ++$i) {
                Patience::with(fn() => $cache->incr('up'));
                Patience::with(fn() => $i % 2 === 0 ? $cache->incr('both', 3)
                    : $cache->decr('both', 2));
            }
        };
        self::atOnce($count, $count);
        self::assertSame(10_000, $this->two->get('up'));
        self::assertSame(25_000, $this->two->get('both'));
    }

    /**
     * A reader that begins after a write returned has the new value, or none: also while groups and
     * everything are flushed, and versions are evicted.
     */
    public function testNoReaderThatBeginsSeesAnOlderValue(): void
    {
        bloom_cache_set('written', 0);
        bloom_cache_set('stale', 0);
        $read = static function (): void {
            while (($written = bloom_cache_get('written', 0)) < 5_000) {
                $value = (new WP_Object_Cache())->get('key', 'group', false, $found);
                $found && $value < $written && bloom_cache_increment('stale');
            }
        };
        $flush = static function (): void {
            $cache = new WP_Object_Cache();
            for ($i = 0; bloom_cache_get('written', 0) < 5_000; ++$i) {
                $i % 2 === 0 ? $cache->flush() : $cache->flush_group('group');
                usleep(100);
            }
        };
        $write = static function (): void {
            $cache = new WP_Object_Cache();
            for ($i = 1; $i <= 5_000; ++$i) {
                Patience::with(fn() => $i % 10 === 0 ? $cache->delete('key', 'group')
                    : $cache->set('key', $i, 'group'));
                Patience::with(fn() => bloom_cache_set('written', $i));
            }
        };
        self::atOnce($read, $read, $flush, $write);
        self::assertSame(0, bloom_cache_get('stale'));
        self::assertSame([], bloom_verify());
    }

    public function testOneOfTwoProcessesAdds(): void
    {
        $this->one->set('added', 0);
        $add = static function (): void {
            for ($i = 0; $i < 2_000; ++$i) {
                // A request keeps what was refused: the next try is another one.
                $add = fn() => (new WP_Object_Cache())->add("lock $i", getmypid());
                Patience::with($add)
                    && Patience::with(fn() => (new WP_Object_Cache())->incr('added'));
            }
        };
        self::atOnce($add, $add);
        self::assertSame(2_000, $this->two->get('added'));
    }

    public function testFlushReachesRequestsThatBegin(): void
    {
        foreach (['one', 'two'] as $group) {
            $this->one->set('key', 'value', $group);
            $this->two->get('key', $group);
        }
        self::assertTrue($this->one->flush_group('one'));
        $three = new WP_Object_Cache();
        self::assertFalse($three->get('key', 'one'));
        self::assertSame('value', $three->get('key', 'two'));
        self::assertTrue($this->one->flush());
        $three->flush_runtime();
        self::assertFalse($three->get('key', 'two'));
        self::assertSame(['key' => 'value'], $this->two->get_multiple(['key'], 'two'));
        self::assertFalse($this->two->get('key', 'two', true));
    }

    public function testWriteAfterTheFlushOfAnotherReachesAll(): void
    {
        $this->two->set('key', 'older');
        $this->two->set('deleted', 'older');
        $this->one->flush();
        $this->one->set('deleted', 'newer');
        self::assertTrue($this->two->delete('deleted'));
        self::assertTrue($this->two->set('key', 'newest'));
        self::assertSame('newest', $this->one->get('key'));
        self::assertFalse($this->one->get('deleted', '', true));
    }

    public function testLostVersionsMakeAllMissAndNothingOld(): void
    {
        $this->one->set('key', 'value');
        $cursor = 0;
        do {
            foreach (bloom_cache_scan($cursor) as $record => $value) {
                if (substr_count($record, ':') < 3) {
                    bloom_cache_delete($record);
                }
            }
        } while ($cursor !== 0);
        self::assertFalse($this->two->get('key'));
        self::assertTrue($this->two->add('key', 'newer'));
        self::assertSame('newer', $this->one->get('key', '', true));
    }

    public function testGroupsOfTheRequestAreNotShared(): void
    {
        $this->one->set('key', 'value', 'counts');
        $this->one->add_non_persistent_groups(['counts', 'plugins']);
        self::assertTrue($this->one->set('key', 'own', 'counts'));
        self::assertSame('value', $this->two->get('key', 'counts'));
        self::assertSame('own', $this->one->get('key', 'counts', true));
        self::assertTrue($this->one->flush_group('plugins'));
    }

    public function testInstallationsAreApart(): void
    {
        $this->one->set('key', 'value');
        $GLOBALS['wpdb'] = new \wpdb();
        self::assertFalse((new WP_Object_Cache())->get('key'));
        $GLOBALS['wpdb']->base_prefix = 'wp2_';
        $other = new WP_Object_Cache();
        $other->set('key', 'of another');
        $other->flush();
        unset($GLOBALS['wpdb']);
        self::assertSame('value', (new WP_Object_Cache())->get('key'));
        $salted = static function (): void {
            define('WP_CACHE_KEY_SALT', 'salt');
            $cache = new WP_Object_Cache();
            $cache->set('key', $cache->get('key') === false ? 'salted' : 'seen');
            bloom_cache_set('result', (new WP_Object_Cache())->get('key'));
        };
        self::atOnce($salted);
        self::assertSame('salted', bloom_cache_get('result'));
        self::assertSame('value', (new WP_Object_Cache())->get('key'));
    }

    public function testSpoiledValueIsAMissAndTakesNoOtherDown(): void
    {
        self::assertTrue($this->one->set('bad', new Spoiled()));
        $this->one->set('good', 1);
        self::assertSame(['bad' => false, 'good' => 1], $this->two->get_multiple(['bad', 'good']));
        self::assertTrue($this->two->add('bad', 'better'));
        $this->one->set('bad', new Spoiled());
        self::assertFalse((new WP_Object_Cache())->get('bad'));
        $this->one->set('bad', new Spoiled());
        self::assertFalse((new WP_Object_Cache())->incr('bad'));
    }

    public function testCountOfWhatNeverLooksTheSameEndsAndIsFalse(): void
    {
        $this->one->set('key', new Restless());
        self::assertFalse($this->two->incr('key'));
    }

    public function testRefusedValueStaysInTheRequestAndHidesNoOlderOne(): void
    {
        $refused = ['closure' => [static fn(): int => 1], 'large' => str_repeat('x', 20 << 20)];
        foreach ($refused as $key => $value) {
            $this->one->set($key, 'older');
            self::assertFalse($this->one->set($key, $value));
            self::assertSame($value, $this->one->get($key));
            self::assertFalse($this->two->get($key));
            self::assertFalse($this->two->add($key, $value));
            self::assertSame($value, $this->two->get($key));
            $this->one->set($key, 'older');
            self::assertFalse($this->two->replace($key, $value));
            self::assertFalse((new WP_Object_Cache())->get($key));
        }
    }

    /**
     * A process that is stopped while it holds the lock of the store: writes are refused after a
     * while, and the request goes on with what it has.
     */
    public function testLockThatIsNotToBeHadTakesNoRequestDown(): void
    {
        $busy = pcntl_fork();
        if ($busy === 0) {
            for ($i = 0; ; ++$i) {
                bloom_cache_set("busy:$i", str_repeat('x', 3_000));
            }
        }
        for ($i = 0, $refused = false; $i < 1_000 && !$refused; ++$i) {
            // It must get to run between two stops.
            usleep(random_int(1, 500));
            posix_kill($busy, SIGSTOP);
            pcntl_waitpid($busy, $status, WUNTRACED);
            $refused = !$this->one->set('key', $i);
            self::assertSame($i, $this->one->get('key'));
            if ($refused) {
                self::assertFalse($this->two->set('other', 1));
                self::assertFalse($this->two->add('third', 2));
                self::assertSame([1, 2], [$this->two->get('other'), $this->two->get('third')]);
                self::assertFalse($this->two->incr('fourth'));
                self::assertFalse($this->one->flush());
            }
            posix_kill($busy, SIGCONT);
        }
        posix_kill($busy, SIGKILL);
        pcntl_waitpid($busy, $status);
        self::assertTrue($refused);
        self::assertTrue($this->one->set('key', 'newest'));
        self::assertSame('newest', $this->two->get('key', '', true));
    }

    #[Group('only-small')]
    public function testRightValueOrMissWhileAnotherProcessFloods(): void
    {
        $flood = pcntl_fork();
        if ($flood === 0) {
            for ($i = 0; ; ++$i) {
                bloom_cache_set("flood:$i", str_repeat('x', 100 + $i % 3_000));
            }
        }
        $wrong = $hits = 0;
        for ($i = 0; $i < 20_000; ++$i) {
            $cache = new WP_Object_Cache();
            $key = $i % 50;
            $value = $cache->get($key, 'flooded', false, $found);
            $hits += (int) $found;
            $wrong += (int) ($found ? $value !== "value $key" : $value !== false);
            $found || $cache->add($key, "value $key", 'flooded');
            $i % 1_000 === 0 && $cache->flush();
        }
        posix_kill($flood, SIGKILL);
        pcntl_waitpid($flood, $status);
        self::assertSame(0, $wrong);
        self::assertGreaterThan(0, $hits);
        self::assertSame([], bloom_verify());
    }
}

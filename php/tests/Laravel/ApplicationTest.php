<?php

declare(strict_types=1);

namespace BloomShm\Tests\Laravel;

use BloomShm\Laravel\BloomShmServiceProvider;
use BloomShm\Laravel\BloomShmStore;
use BloomShm\Laravel\UncompromisedVerifier;
use Illuminate\Cache\RateLimiter;
use Illuminate\Cache\TaggedCache;
use Illuminate\Console\Scheduling\CacheEventMutex;
use Illuminate\Console\Scheduling\Event;
use Illuminate\Contracts\Validation\UncompromisedVerifier as Verifier;
use Illuminate\Support\Carbon;
use Illuminate\Support\Facades\Cache;
use Illuminate\Support\Facades\Validator;
use Illuminate\Validation\Rules\Password;
use PHPUnit\Framework\Attributes\Group;

use function Illuminate\Support\defer;

final class ApplicationTest extends LaravelTestCase
{
    public function testTheProviderIsDiscoveredAndTheStoreIsThere(): void
    {
        self::assertArrayHasKey(BloomShmServiceProvider::class, $this->app->getLoadedProviders());
        self::assertInstanceOf(BloomShmStore::class, Cache::getStore());
        self::assertSame($this->app['config']['cache.prefix'], Cache::getPrefix());
        self::assertNotSame('', Cache::getPrefix());
        self::assertTrue(Cache::supportsTags());
    }

    public function testAStoreMayHaveItsOwnPrefix(): void
    {
        $config = $this->app['config'];
        $config['cache.stores.second'] = ['driver' => 'bloomshm', 'prefix' => 'second'];
        $config['cache.stores.odd'] = ['driver' => 'bloomshm', 'prefix' => ['no string']];
        Cache::store('second')->put('key', 2);
        Cache::put('key', 1);
        self::assertSame('second', Cache::store('second')->getPrefix());
        self::assertSame('', Cache::store('odd')->getPrefix());
        self::assertSame([1, 2], [Cache::get('key'), Cache::store('second')->get('key')]);
        Cache::store('second')->clear();
        self::assertSame([1, null], [Cache::get('key'), Cache::store('second')->get('key')]);
    }

    public function testAStoreOfTheConfigurationIsKept(): void
    {
        $store = ['driver' => 'bloomshm', 'prefix' => 'mine'];
        $this->app['config']['cache.stores.bloomshm'] = $store;
        (new BloomShmServiceProvider($this->app))->register();
        self::assertSame('mine', Cache::store('bloomshm')->getPrefix());
    }

    public function testRepository(): void
    {
        self::assertTrue(Cache::put('key', 'value', Carbon::now()->addMinute()));
        self::assertSame('value', Cache::pull('key'));
        self::assertFalse(Cache::has('key'));
        self::assertSame(1, Cache::remember('one', 60, fn() => 1));
        self::assertSame(1, Cache::remember('one', 60, fn() => 2));
        self::assertSame(2, Cache::sear('two', fn() => 2));
        self::assertTrue(Cache::setMultiple(['a' => 1, '7' => 2], 60));
        self::assertSame(['a' => 1, 'none' => 'x'], Cache::getMultiple(['a', 'none'], 'x'));
        self::assertSame([7 => 2, 'a' => 1, 'none' => null], Cache::many(['7', 'a', 'none']));
        $many = Cache::many(['a' => 0, 'none' => 'default']);
        self::assertSame(['a' => 1, 'none' => 'default'], $many);
        self::assertTrue(Cache::add('added', 1, 60));
        self::assertFalse(Cache::add('added', 1, 60));
        self::assertTrue(Cache::put('a', 1, 0)); // Laravel forgets it
        self::assertFalse(Cache::has('a'));
        self::assertFalse(Cache::put('a', 1, -1));
        self::assertTrue(Cache::deleteMultiple(['one', 'two']));
        self::assertSame(5, Cache::increment('count', 5));
    }

    public function testTags(): void
    {
        self::assertInstanceOf(TaggedCache::class, Cache::tags('a'));
        Cache::tags(['a', 'b'])->put('key', 'ab', 60);
        Cache::tags('a')->put('key', 'a', 60);
        Cache::tags('c')->putMany(['key' => 'c', '5' => 'five'], 60);
        Cache::put('key', 'none', 60);
        self::assertSame('ab', Cache::tags(['a', 'b'])->get('key'));
        self::assertNull(Cache::tags(['b', 'a'])->get('key'));
        self::assertSame(['key' => 'c', 5 => 'five'], Cache::tags('c')->many(['key', '5']));
        self::assertSame(3, Cache::tags('c')->increment('count', 3));
        Cache::tags('b')->flush();
        self::assertNull(Cache::tags(['a', 'b'])->get('key'));
        self::assertSame('a', Cache::tags('a')->get('key'));
        self::assertSame('none', Cache::get('key'));
        Cache::flush();
        self::assertNull(Cache::tags('c')->get('key'));
    }

    public function testFlexible(): void
    {
        Carbon::setTestNow('2026-01-01 00:00:00');
        self::assertSame(1, Cache::flexible('key', [10, 20], fn() => 1));
        self::assertSame(1, Cache::flexible('key', [10, 20], fn() => 2));
        Carbon::setTestNow('2026-01-01 00:00:11');
        self::assertSame(1, Cache::flexible('key', [10, 20], fn() => 3));
        $lock = Cache::lock('illuminate:cache:flexible:lock:key', 10);
        self::assertTrue($lock->get());
        defer()->first()();
        self::assertSame(1, Cache::get('key'));
        self::assertTrue($lock->release());
        defer()->invoke();
        self::assertSame(3, Cache::get('key'));
    }

    public function testRateLimiter(): void
    {
        $limiter = new RateLimiter(Cache::store());
        for ($i = 1; $i <= 3; $i++) {
            self::assertFalse($limiter->tooManyAttempts('login', 3));
            self::assertSame($i, $limiter->hit('login', 60));
        }
        self::assertTrue($limiter->tooManyAttempts('login', 3));
        self::assertSame(0, $limiter->remaining('login', 3));
        self::assertEqualsWithDelta(60, $limiter->availableIn('login'), 5);
        $limiter->clear('login');
        self::assertSame('done', $limiter->attempt('login', 1, fn() => 'done'));
        self::assertFalse($limiter->attempt('login', 1, fn() => 'not again'));
        self::assertSame(1, $limiter->hit('short', 1));
        usleep(2_100_000);
        self::assertSame(0, $limiter->attempts('short'));
    }

    public function testWhatLaravelBuildsOnLocks(): void
    {
        $event = new Event(new CacheEventMutex($this->app['cache']), 'command');
        self::assertTrue($event->mutex->create($event));
        self::assertFalse($event->mutex->create($event));
        self::assertTrue($event->mutex->exists($event));
        $event->mutex->forget($event);
        self::assertFalse($event->mutex->exists($event));
        self::assertSame('result', Cache::withoutOverlapping('name', fn() => 'result', 10, 1));
        $inside = fn() => Cache::funnel('name')->limit(1)->releaseAfter(10)->block(0)
            ->then(fn() => 'second', fn() => 'full');
        $funnel = Cache::funnel('name')->limit(1)->releaseAfter(10)->block(0);
        self::assertSame('full', $funnel->then($inside));
        self::assertSame('second', $inside());
    }

    #[Group('extension')]
    public function testArtisanClearsTheStoreOfTheApplication(): void
    {
        Cache::put('key', 1);
        Cache::put('other', 1);
        Cache::lock('name', 60)->get();
        $this->store('another application')->put('key', 1, 60);
        [$status, $text] = $this->runPhp('artisan', 'cache:forget', 'key');
        self::assertSame(0, $status, $text);
        self::assertSame(['key' => null, 'other' => 1], Cache::many(['key', 'other']));
        [$status, $text] = $this->runPhp('artisan', 'cache:clear');
        self::assertSame(0, $status, $text);
        self::assertStringContainsString('cleared successfully', $text);
        self::assertNull(Cache::get('other'));
        self::assertFalse(Cache::lock('name', 60)->get());
        self::assertSame(1, $this->store('another application')->get('key'));
    }

    #[Group('extension')]
    public function testPasswords(): void
    {
        \bloom_load('breached-passwords', [strtoupper(sha1('password1'))], 0.000001);
        \bloom_load('plain-passwords', ['letmein11'], 0.000001);
        $this->app->extend(Verifier::class, fn() => new UncompromisedVerifier());
        $check = fn(mixed $password) => Validator::make(
            ['password' => $password],
            ['password' => Password::min(8)->uncompromised()],
        )->passes();
        self::assertFalse($check('password1'));
        self::assertTrue($check('correct horse'));

        $plain = new UncompromisedVerifier('plain-passwords', sha1: false);
        self::assertFalse($plain->verify(['value' => 'letmein11', 'threshold' => 0]));
        self::assertTrue($plain->verify(['value' => 'correct horse', 'threshold' => 0]));
        self::assertFalse($plain->verify(['value' => '']));
        self::assertFalse($plain->verify([]));

        foreach ([true, false] as $answer) {
            $asked = new Recorder($answer);
            $both = new UncompromisedVerifier(second: $asked);
            self::assertTrue($both->verify(['value' => 'correct horse']));
            self::assertSame([], $asked->asked);
            self::assertSame($answer, $both->verify(['value' => 'password1']));
            $verifier = new UncompromisedVerifier('none', second: $asked);
            self::assertSame($answer, $verifier->verify(['value' => 'x']));
            self::assertSame([['value' => 'password1'], ['value' => 'x']], $asked->asked);
        }
        \bloom_drop('breached-passwords');
        \bloom_drop('plain-passwords');
        $this->expectExceptionMessage('The filter "breached-passwords" of breached passwords is not ready.');
        $check('correct horse');
    }

    #[Group('extension')]
    public function testASecondVerifierIsAskedUnderAnyPolicyForMissingFilters(): void
    {
        $code = <<<'PHP'
            require 'vendor/autoload.php';
            final class Accepts implements Illuminate\Contracts\Validation\UncompromisedVerifier
            {
                public function verify($data): bool { return true; }
            }
            $verifier = new BloomShm\Laravel\UncompromisedVerifier('none', second: new Accepts());
            echo json_encode($verifier->verify(['value' => 'correct horse']));
            PHP;
        foreach (['maybe', 'warn', 'throw'] as $policy) {
            $result = $this->runPhp('-d', "bloomshm.missing_filter=$policy", '-r', $code);
            self::assertSame([0, 'true'], $result, $policy);
        }
    }

    public function testAnAuthoritativeClassMapIsEnough(): void
    {
        // Composer's class maps have no aliases.
        $code = <<<'PHP'
            require 'vendor/autoload.php';
            spl_autoload_register(static function (string $class): void {
                if ($class === BloomShm\Laravel\FlushesLocks::class) {
                    exit('the class map does not have it');
                }
            }, prepend: true);
            echo (new BloomShm\Laravel\BloomShmStore('shop'))->getPrefix();
            PHP;
        self::assertSame([0, 'shop'], $this->runPhp('-r', $code));
    }
}

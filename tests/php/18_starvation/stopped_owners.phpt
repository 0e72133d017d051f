--TEST--
Owners of a shard's lock, of leases and of loads that are stopped: nothing is stolen, and no call waits for ever
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/stopped_owners.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=1M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';
require __DIR__ . '/held.inc';

bloom_load('f', keys('k', 100));
bloom_cache_set_many(['a' => 1, 'text' => 'old']);
bloom_cache_set('stale', 'stale', 1);
usleep(2_100_000); // until its time has passed for sure
$owner = new Child(<<<'PHP'
    bloom_load('f', (function () {
        yield from keys('new ', 3000);
        bloom_cache_remember('stale', function () {
            return bloom_cache_remember('leased', function () {
                return bloom_cache_remember_many(['m1', 'm2', 'm3'], function () {
                    echo getmypid(), "\n";
                    fgets(STDIN);
                    return ['m1' => 'of the owner'];
                })[0];
            });
        });
    })());
    echo "loaded\n";
    fgets(STDIN);
    PHP);
$pid = (int) $owner->hear();
posix_kill($pid, SIGSTOP);

// A stopped loader: no call waits; keys that are added meanwhile are kept.
$began = own_time();
check_same(0, count_no('f', keys('k', 100)), 'the set that stands');
bloom_add('f', 'added');
check_same(1, bloom_load('g', ['a'])['keys'], 'another load');
// A stopped loader of a value whose time has passed: the others take it as it is.
check_same('stale', bloom_cache_remember('stale', fn () => 'mine'), 'a stale value');
check(own_time() - $began < 2, 'no call waited');
// One of a key that is not there: the others wait 5 s, then load for themselves.
$began = microtime(true);
$own = own_time();
check_same('mine', bloom_cache_remember('leased', fn () => 'mine'), 'after 5 seconds');
$took = microtime(true) - $began;
check($took > 4.5 && own_time() - $own < 10, "waited for $took s");
// Many keys that it loads: 5 s for all of them together, then one call.
bloom_cache_delete('leased'); // this ends the owner's lease of it
$began = microtime(true);
$own = own_time();
$calls = [];
$got = bloom_cache_remember_many(['m1', 'stale', 'free', 'm2', 'm3', 'leased'], function (array $keys) use (&$calls) {
    $calls[] = implode(' ', $keys);
    return array_combine($keys, $keys);
});
$took = microtime(true) - $began;
check_same([['m1', 'stale', 'free', 'm2', 'm3', 'leased'], ['free leased', 'm1 m2 m3']], [$got, $calls], 'many keys after 5 seconds');
check($took > 4.5 && own_time() - $own < 10, "waited for $took s");
check_same(0, bloom_status()['lock_timeouts'] + bloom_cache_info()['lock_timeouts'], 'lock timeouts');

// Stopped with the shard's lock: reads go on, writes give up after their time, and say so.
$word = lock_word($pid);
set_shard_lock($word, 0);
$began = own_time();
check_same([1, 'old', true], [bloom_cache_get('a'), bloom_cache_get('text'), bloom_cache_has('a')], 'reads');
check(own_time() - $began < 0.04, 'reads do not wait');
var_dump(bloom_cache_set('a', 2), bloom_cache_add('b', 1), bloom_cache_delete('a'), bloom_cache_set_many(['c' => 1, 'd' => 2]));
show_thrown(fn () => bloom_cache_increment('a'), fn () => bloom_cache_append('text', '!'));
check_same('loaded', bloom_cache_remember('e', fn () => 'loaded'), 'a loader needs no lock to answer');
check_same([1, 'old'], [bloom_cache_get('a'), bloom_cache_get('text')], 'nothing was changed');
$timeouts = bloom_cache_info()['lock_timeouts'];
check($timeouts >= 7, "counted: $timeouts");
check_same(0, bloom_cache_info()['repairs'], 'nothing was stolen');
// The filters have another lock.
check_same(true, bloom_add('f', 'more') && bloom_reserve('h', 10), 'filters');

// It goes on, and what it does counts.
set_shard_lock(0, $word);
posix_kill($pid, SIGCONT);
$owner->say('go on');
check_same('loaded', $owner->hear(), 'the load that was stopped');
check_same(0, count_no('f', ['added', 'more', ...keys('new ', 3000)]), 'its set, with what was added');
check_same('of the owner', bloom_cache_get('stale'), 'its value');

// Killed with the lock: the next one takes it over at once.
set_shard_lock($word, 0);
$owner->kill();
var_dump(bloom_cache_set('a', 3), bloom_cache_get('a'), bloom_cache_info()['repairs'], bloom_cache_info()['lock_timeouts'] - $timeouts);
done();
?>
--EXPECTF--
bool(false)
bool(false)
bool(false)
int(0)
BloomShm\Exception TIMEOUT: another process holds a lock of the record store, which could not be taken in time
BloomShm\Exception TIMEOUT: another process holds a lock of the record store, which could not be taken in time
bool(true)
int(3)
int(1)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

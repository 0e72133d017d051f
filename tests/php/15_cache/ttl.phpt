--TEST--
A record lives between ttl - 1 and ttl + 1 seconds, and what is past is nowhere any more
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/ttl.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$gone = [
    'set', 'set_many', 'add', 'replace', 'cas', 'increment', 'touch', 'remember', 'increment keeps', 'decrement keeps',
    'append keeps', 'increment if present', 'cas keeps', 'remember_many',
];
$stays = [
    'forever', 'long', 'set anew', 'replaced', 'swapped', 'touched', 'counted', 'appended', 'long counted', 'long swapped',
    'created',
];

// Everything that needs time to pass is here, so that it passes once; anew where it was changed too late.
$tries = 0;
do {
    bloom_cache_clear();
    $start = microtime(true);
    bloom_cache_set('set', 1, 1);
    bloom_cache_set_many(['set_many' => 1], 1);
    bloom_cache_add('add', 1, 1);
    bloom_cache_set('replace', 1);
    bloom_cache_replace('replace', 2, 1);
    bloom_cache_set('cas', 1);
    bloom_cache_cas('cas', 1, 2, 1);
    bloom_cache_increment('increment', 1, 0, 1);
    bloom_cache_set('touch', 1);
    bloom_cache_touch('touch', 1);
    bloom_cache_remember('remember', fn () => 1, 1);
    bloom_cache_remember_many(['remember_many'], fn () => ['remember_many' => 1], 1);
    // Increment and append keep the time of what is there, whatever increment's argument says.
    bloom_cache_set('increment keeps', 1, 1);
    bloom_cache_increment('increment keeps', 1, 0, 100);
    bloom_cache_increment('increment keeps');
    bloom_cache_set('decrement keeps', 1, 1);
    bloom_cache_decrement('decrement keeps', 1, 0, 100);
    bloom_cache_set('append keeps', 'a', 1);
    bloom_cache_append('append keeps', 'b');
    bloom_cache_set('increment if present', 1, 1);
    bloom_cache_increment('increment if present', 1, 0, 100, false);
    bloom_cache_set('cas keeps', 1, 1);
    bloom_cache_cas('cas keeps', 1, str_repeat('large', 100_000), null);
    bloom_cache_cas('cas keeps', str_repeat('large', 100_000), 'small', null);
    bloom_cache_set('forever', 1);
    bloom_cache_set('long', 1, 600);
    bloom_cache_set('short', 1, 4);
    foreach (['set anew', 'replaced', 'swapped', 'touched'] as $key) {
        bloom_cache_set($key, 1, 1);
    }
    bloom_cache_set('set anew', 1);
    bloom_cache_replace('replaced', 1);
    bloom_cache_cas('swapped', 1, 1);
    bloom_cache_touch('touched', 0);
    bloom_cache_set('counted', 0);
    bloom_cache_increment('counted', 1, 0, 1);
    bloom_cache_append('appended', '1');
    bloom_cache_set('long counted', 0, 600);
    bloom_cache_increment('long counted', 1, 0, 1);
    bloom_cache_set('long swapped', 0, 600);
    bloom_cache_cas('long swapped', 0, 1, null);
    bloom_cache_cas('created', null, 1, null);

    bloom_cache_set('stale', 'old', 1);
    bloom_load('f', ['key', 'key 2']);
    bloom_fetch('f', 'key', fn () => 'old', 1);
    bloom_fetch('f', 'key 2', fn () => null, 1);
} while (microtime(true) - $start > 0.9 && ++$tries < 20);
bloom_cache_dump(scratch());
usleep(2_050_000);
check(bloom_cache_delete('short') || microtime(true) - $start > 2.9, 'a record lives ttl - 1 seconds at least');
bloom_cache_delete('short');

foreach ($gone as $key) {
    check_same('default', bloom_cache_get($key, 'default'), "get $key");
    check_same(false, bloom_cache_has($key), "has $key");
}
check_same(array_fill_keys($gone, 'default'), bloom_cache_get_many($gone, 'default'), 'get_many');
foreach ($stays as $key) {
    check(bloom_cache_has($key), "$key stays");
    check_same(1, (int) bloom_cache_get($key, 'default'), $key);
}
$cursor = 0;
$seen = [];
do {
    $seen += bloom_cache_scan($cursor);
} while ($cursor !== 0);
ksort($seen);
sort($stays);
check_same($stays, array_keys($seen), 'scan');

// As for a key that is absent.
check_same(false, bloom_cache_replace('set', 1), 'replace');
check_same(false, bloom_cache_touch('set_many', 1), 'touch');
check_same(false, bloom_cache_delete('add'), 'delete');
check_same(0, bloom_cache_delete_many(['replace', 'increment keeps']), 'delete_many');
check_same(false, bloom_cache_cas('cas', 2, 3), 'cas');
check_same(true, bloom_cache_cas('cas', null, 3), 'cas of what is past');
check_same(false, bloom_cache_increment('increment', create: false), 'increment if present');
check_same(false, bloom_cache_has('increment'), 'no record was created');
check_same(11, bloom_cache_increment('increment', 1, 10), 'increment');
check_same(1, bloom_cache_append('append keeps', 'c', '; '), 'append');
check_same(true, bloom_cache_add('touch', 'new'), 'add');
check_same('new', bloom_cache_remember('remember', fn () => 'new'), 'remember');

// An older value is returned while another process loads, without waiting for it.
$child = new Child(<<<'PHP'
    echo bloom_cache_remember('stale', function () {
        echo "loading\n";
        fgets(STDIN);
        return 'new';
    }), "\n";
    echo bloom_fetch('f', 'key', function () {
        echo "loading\n";
        fgets(STDIN);
        return 'new';
    }), "\n";
    PHP);
foreach ([
    'remember' => fn (callable $load) => [bloom_cache_remember('stale', $load), ...bloom_cache_remember_many(['stale'], $load)],
    'fetch' => fn (callable $load) => [bloom_fetch('f', 'key', $load), ...bloom_fetch_many('f', ['key'], $load)],
] as $name => $call) {
    check_same('loading', $child->hear(), "$name: the child");
    $at = own_time();
    check_same(['old', 'old'], $call(fn () => 'mine'), "$name while another loads");
    check(own_time() - $at < 0.5, "$name did not wait");
    $child->say('go on');
    check_same('new', $child->hear(), "$name: what the child got");
    check_same(['new', 'new'], $call(fn () => 'mine'), "$name afterwards");
}
$child->end();
check_same('asked again', bloom_fetch('f', 'key 2', fn () => 'asked again'), 'a remembered null whose time has passed');

// A dump holds when a record ends, not how long it lives.
bloom_cache_clear();
bloom_cache_restore(scratch());
$there = array_keys(array_filter(bloom_cache_get_many([...$gone, ...$stays, 'stale']), fn ($value) => $value !== null));
sort($there);
check_same($stays, array_values(array_diff($there, ['short'])), 'restored');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

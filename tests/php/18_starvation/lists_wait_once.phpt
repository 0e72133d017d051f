--TEST--
A call with many keys waits once for a lock whose holder is stopped, as a call with one key does
--EXTENSIONS--
bloomshm
posix
--INI--
bloomshm.path={PWD}/lists_wait_once.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';
require __DIR__ . '/held.inc';

$keys = keys('k', 200);
$values = array_fill_keys($keys, 'value');
bloom_cache_set_many($values);
bloom_load('f', ['a', 'b']);
bloom_fetch('f', 'a', fn () => 'kept');
bloom_cache_dump(scratch('.dump'));
// What is loaded without a lease is returned, and not stored.
$others = keys('other ', 200);
$loaded = keys('loaded ', 200);
bloom_load('others', $others);
$holder = new Child('bloom_cache_set("its", 1); echo getmypid(), "\n"; fgets(STDIN);');
$pid = (int) $holder->hear();
$word = lock_word($pid);
posix_kill($pid, SIGSTOP);
set_shard_lock($word, 0);

function seconds(callable $call): float
{
    $began = own_time();
    $call();
    return own_time() - $began;
}

$cursor = 0;
$calls = [
    'set_many' => fn () => check_same(0, bloom_cache_set_many($values), 'set_many'),
    'delete_many' => fn () => check_same(0, bloom_cache_delete_many($keys), 'delete_many'),
    'clear' => fn () => check_same(0, bloom_cache_clear(), 'clear'),
    'clear prefix' => fn () => check_same(0, bloom_cache_clear('k1'), 'clear of a prefix'),
    'pop_oldest' => fn () => check_same(null, bloom_cache_pop_oldest(), 'pop_oldest'),
    'remember_many' => fn () => check_same($loaded, bloom_cache_remember_many($others, fn () => array_combine($others, $loaded)), 'remember_many'),
    'fetch_many' => fn () => check_same($loaded, bloom_fetch_many('others', $others, fn () => array_combine($others, $loaded)), 'fetch_many'),
    'get_many' => fn () => check_same($values, bloom_cache_get_many($keys), 'get_many'),
    'scan' => fn () => check_same(201, count(bloom_cache_scan($cursor, 1000)), 'scan'),
    'dump' => fn () => check_same(201, bloom_cache_dump(scratch('.again')), 'dump'),
    // What is remembered of the first key could not be removed: the others are not asked about.
    'add_many' => fn () => print(strstr(thrown_by(fn () => bloom_add_many('f', ['a', ...$keys])), ':', true) . "\n"),
];
$before = bloom_cache_info()['lock_timeouts'];
foreach ($calls as $name => $call) {
    // The control: what one key's call takes, now, on this machine. A wait for each key would be 200 of it.
    $one = min(seconds(fn () => bloom_cache_set('k0', 1)), seconds(fn () => bloom_cache_delete('k0')));
    $took = seconds($call);
    check($took < 8 * $one, "$name: $took s, where one key's call takes $one s");
}
// Each record that was given up is counted.
check_same(2 * count($calls) + 200 + 200 + 202 + 111 + 1 + 1 + 200 + 200, bloom_cache_info()['lock_timeouts'] - $before, 'counted');
// A batch job waits for a second.
$one = seconds(fn () => bloom_cache_set('k0', 1));
foreach (['restore' => fn () => bloom_cache_restore(scratch('.dump')), 'verify' => fn () => bloom_verify()] as $name => $call) {
    $began = microtime(true);
    $own = seconds(fn () => print("$name: " . preg_replace('/: .*/', '', thrown_by($call)) . "\n"));
    $took = microtime(true) - $began;
    check($took > 0.9 && $own < 8 * 20 * $one, "$name: $took s, $own s of its own");
}

// It goes on: so do the lists.
set_shard_lock(0, $word);
posix_kill($pid, SIGCONT);
var_dump(bloom_cache_set_many($values), bloom_cache_delete_many($keys), bloom_cache_pop_oldest());
$holder->end();
done();
?>
--EXPECTF--
BloomShm\Exception TIMEOUT
restore: BloomShm\Exception TIMEOUT
verify: nothing thrown, returned ["another process holds a lock of the record store, which could not be taken in time"]
int(200)
int(200)
array(2) {
  [0]=>
  string(3) "its"
  [1]=>
  int(1)
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

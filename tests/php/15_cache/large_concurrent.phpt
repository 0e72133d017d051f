--TEST--
A large value that is replaced all the time, and one beside a counter, are read, whole, by every call that reads
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/large_concurrent.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=64M
memory_limit=512M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

const LENGTH = 8 << 20;

bloom_cache_set('large', str_repeat('0', LENGTH));
bloom_cache_set('still', str_repeat('s', LENGTH));
$writer = <<<'PHP'
    $values = array_map(fn ($i) => str_repeat((string) $i, %d - $i), range(0, 9));
    echo "ready\n";
    for ($i = 0; ; $i++) {
        bloom_cache_set('large', $values[$i %% 10]);
        for ($k = 0; $k < 5000; $k++) {
            bloom_cache_set('counter', $k);
        }
    }
    PHP;
$writers = [new Child(sprintf($writer, LENGTH)), new Child(sprintf($writer, LENGTH))];
foreach ($writers as $child) {
    check_same('ready', $child->hear(), 'a writer');
}

/** Missing only if the shard's lock was not to be had, which is counted. */
function whole(mixed $value, string $what): bool
{
    if (is_string($value)) {
        check(LENGTH - strlen($value) <= 9 && $value === str_repeat($value[0], strlen($value)), "$what: torn");
    }
    return is_string($value);
}

$missed = 0;
for ($i = 0; $i < 5; $i++) {
    $missed += !whole(bloom_cache_get('large'), 'get');
    $many = bloom_cache_get_many(['large', 'still', 'absent']);
    $missed += !whole($many['large'], 'get_many') + !whole($many['still'], 'get_many, beside it');
    $missed += !whole(bloom_cache_remember('large', fn () => null), 'remember');
    $cursor = 0;
    foreach (bloom_cache_scan($cursor) as $key => $value) {
        is_string($value) && whole($value, "scan: $key");
    }
}
$timeouts = bloom_cache_info()['lock_timeouts'];
check($missed <= $timeouts, "$missed were missing, $timeouts time-outs");
check($missed < 15, "$missed of 20 were missing");
foreach ($writers as $child) {
    $child->kill();
}
bloom_cache_set('large', 'small');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

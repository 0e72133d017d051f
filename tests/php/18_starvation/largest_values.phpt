--TEST--
A store full of the largest values: they go, small ones come and are there, nothing is refused that fits
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/largest_values.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=8M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('k', 1000));
$limit = intdiv(bloom_cache_info()['bytes_total'], 4);
start_going();
$neighbour = new Child(<<<'PHP'
    echo "here\n";
    for ($i = $wrong = 0; $i < 500 || going(); $i++) {
        $value = str_repeat("$i ", $i % 500);
        $wrong += (int) !patiently(fn () => bloom_cache_set("small $i", $value));
        $wrong += (int) (bloom_cache_get("small $i") !== $value);
        $old = bloom_cache_get('small ' . $i - 5);
        $wrong += (int) !($old === null || $old === str_repeat($i - 5 . ' ', ($i - 5) % 500));
        $large = bloom_cache_get('large ' . $i % 8); // whole or not there
        $wrong += (int) !($large === null || $large === str_repeat($large[0], strlen($large)));
        $wrong += count_no('f', ['k1', 'k999']);
        $wrong += (int) (bloom_cache_remember("loaded $i", fn () => $i) !== $i);
    }
    echo $wrong, "\n";
    PHP);
$neighbour->hear();
for ($i = 0; $i < 60; $i++) {
    $key = 'large ' . $i % 8;
    $value = str_repeat(chr(65 + $i % 26), $limit - strlen($key));
    check(patiently(fn () => bloom_cache_set($key, $value)), "the largest is stored, $i");
    check_same(false, bloom_cache_add("$key too large", $value), 'and no byte more');
    $info = bloom_cache_info();
    check($info['bytes_used'] <= $info['bytes_total'], 'bytes');
}
// A largest value that is appended to stays as it was.
show_thrown(fn () => bloom_cache_append($key, 'x'));
check(in_array(bloom_cache_get($key), [$value, null], true), 'it stays as it was');
// One that does not fit is refused, counted, and takes the older value with it.
$rejected = bloom_cache_info()['rejected'];
var_dump(bloom_cache_set('small', 'old'), bloom_cache_set('small', str_repeat('x', $limit)), bloom_cache_get('small'));
check_same($rejected + 1, bloom_cache_info()['rejected'], 'rejected');
stop_going();
check_same('0', $neighbour->hear(), 'what went wrong for the neighbour');
$neighbour->end();
$info = bloom_cache_info();
// Some calls may be refused on a busy machine: hardly any of so many.
check_same([0, 0], [$info['repairs'], bloom_status()['lock_timeouts']], 'repairs, and lock timeouts of filters');
check($info['lock_timeouts'] < 20, "lock timeouts: {$info['lock_timeouts']}");
check($info['evictions'] > 0, 'evictions');
done();
?>
--EXPECTF--
BloomShm\Exception %s
bool(true)
bool(false)
NULL
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

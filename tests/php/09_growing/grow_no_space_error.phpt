--TEST--
A filter that cannot grow says NO_SPACE; what it has stays, and it grows once there is room
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/grow_no_space_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

reserve_largest('large');
$free = free_bytes();
bloom_drop('large');
bloom_reserve('f', 100, seed: 'fixed');
$large = bloom_reserve('large', 640_000, expansion: 0);
$added = [];
try {
    for ($i = 0;; $i++) {
        bloom_add('f', "k$i");
        $added[] = "k$i";
    }
} catch (BloomShm\Exception $e) {
    echo code_name($e->getCode()), ': ', $e->getMessage(), "\n";
}
$before = bloom_info('f');
check($before['items'] >= 0.99 * $before['capacity'], "{$before['items']} of {$before['capacity']}");
check_same(0, count_no('f', $added), 'denied');
// A key that is there makes no full filter throw; nor does a question.
var_dump(bloom_add('f', 'k0'), bloom_add_many('f', ['k1', 'k2']), bloom_insert('f', ['k1']));
show_thrown(
    fn () => bloom_add_many('f', keys('many ', 10000)),
    fn () => bloom_insert('f', keys('insert ', 10000)),
);
check_same($before['bytes'], bloom_info('f')['bytes'], 'bytes');
check_same([], bloom_verify(), 'bloom_verify()');
bloom_drop('large');
check_same(10000, count(bloom_insert('f', keys('insert ', 10000))), 'it grows');
check_same(0, count_no('f', [...$added, ...keys('insert ', 10000)]), 'denied');
done();
?>
--EXPECTF--
NO_SPACE: filter "f" is full and must grow by %s bytes), and %s bytes) are free; raise bloomshm.filter_memory%S
bool(false)
int(0)
array(1) {
  [0]=>
  bool(false)
}
BloomShm\Exception NO_SPACE: filter "f" is full and must grow by %s bytes), and %s bytes) are free; raise bloomshm.filter_memory%S
BloomShm\Exception NO_SPACE: filter "f" is full and must grow by %s bytes), and %s bytes) are free; raise bloomshm.filter_memory%S
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

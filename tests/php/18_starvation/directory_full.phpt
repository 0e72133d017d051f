--TEST--
The directory full: NO_SPACE for one more name, everything else works, and a name that goes makes room
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/directory_full.seg
bloomshm.filter_memory=130M
bloomshm.cache_memory=0
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

start_going();
$neighbour = new Child(<<<'PHP'
    bloom_reserve('shared', 10000, expansion: 0);
    echo "here\n";
    for ($i = $missing = 0; $i < 100 || going(); $i++) {
        bloom_add('shared', 'key ' . $i % 5000);
        $missing += count_no('shared', ['key ' . $i % 5000, 'key ' . intdiv($i % 5000, 2)]);
        usleep(1000);
    }
    echo $missing, "\n";
    PHP);
$neighbour->hear();
bloom_load('loaded', ['a']);
for ($i = 0; $i < 16384 - 2; $i++) {
    bloom_reserve("name $i", 10, expansion: 0);
    if ($i % 1024 === 1023) {
        echo $i + 1, "\n"; // a test that is silent for a minute is ended
    }
}
check_same(16384, bloom_status()['filters'], 'filters');
check(bloom_status()['filter_bytes_free'] > 500_000, 'it is not the memory that is full');
$free = free_bytes();
show_thrown(
    fn () => bloom_reserve('one more', 10),
    fn () => bloom_load('one more', ['a']),
    fn () => bloom_insert('one more', ['a']),
    fn () => bloom_copy('loaded', 'one more'),
);
check_same($free, free_bytes(), 'what failed gave its memory back');
check_same(true, bloom_add('name 7', 'a') && bloom_maybe_has('name 7', 'a') && !bloom_maybe_has('name 8', 'a'), 'adds');
check_same(2, bloom_load('loaded', ['b', 'c'])['keys'], 'a load of a name that is there');
check_same(true, bloom_rename('loaded', 'name 9') && bloom_copy('name 9', 'name 8'), 'one name less');
check_same(true, bloom_reserve('one more', 10) && bloom_drop('name 10'), 'room for one');
check_same(1, bloom_load('another', ['a'])['keys'], 'and again');
show_thrown(fn () => bloom_reserve('too many', 10));
check_same(false, bloom_maybe_has('name 9', 'a') || !bloom_maybe_has('name 8', 'b'), 'the right sets');
stop_going();
check_same('0', $neighbour->hear(), 'keys that the neighbour missed');
$neighbour->end();
check(bloom_status()['lock_timeouts'] < 20, 'lock timeouts: ' . bloom_status()['lock_timeouts']);
done();
?>
--EXPECT--
1024
2048
3072
4096
5120
6144
7168
8192
9216
10240
11264
12288
13312
14336
15360
BloomShm\Exception NO_SPACE: the directory has 16384 places for filters, and all are taken; no segment holds more: drop some, or use another bloomshm.path
BloomShm\Exception NO_SPACE: the directory has 16384 places for filters, and all are taken; no segment holds more: drop some, or use another bloomshm.path
BloomShm\Exception NO_SPACE: the directory has 16384 places for filters, and all are taken; no segment holds more: drop some, or use another bloomshm.path
BloomShm\Exception NO_SPACE: the directory has 16384 places for filters, and all are taken; no segment holds more: drop some, or use another bloomshm.path
BloomShm\Exception NO_SPACE: the directory has 16384 places for filters, and all are taken; no segment holds more: drop some, or use another bloomshm.path
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_cache_scan(): a foreign cursor ends or goes on; a count below 1 is a ValueError
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/scan_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_cache_set_many(array_combine(keys('key ', 2000), range(0, 1999)));
$info = bloom_cache_info();
mt_srand($seed = 11);
echo "seed $seed\n";
$cursors = [12345, -1, 1, 2, PHP_INT_MAX, PHP_INT_MIN, 1 << 32, (1 << 32) - 1, 1 << 62, -12345];
for ($i = 0; $i < 200; $i++) {
    $cursors[] = mt_rand() << mt_rand(0, 40);
    $cursors[] = 1 << mt_rand(0, 63);
}
foreach ($cursors as $foreign) {
    foreach ([1, 100] as $count) {
        $cursor = $foreign;
        $steps = 0;
        do {
            $page = bloom_cache_scan($cursor, $count);
            check(count($page) <= 2 * $count + 64, "$foreign: a page of " . count($page));
            foreach ($page as $key => $value) {
                check("key $value" === $key, "$foreign: $key");
            }
        } while ($cursor !== 0 && ++$steps < 5000);
        check_same(0, $cursor, "from $foreign the end is reached");
    }
}
check_same($info, bloom_cache_info(), 'info');
$cursor = 5;
show_thrown(
    fn () => bloom_cache_scan($cursor, 0),
    fn () => bloom_cache_scan($cursor, -1),
    fn () => bloom_cache_scan($cursor, PHP_INT_MIN),
);
var_dump($cursor);
// As many as there may be.
$cursor = 0;
var_dump(count(bloom_cache_scan($cursor, PHP_INT_MAX)), $cursor);
done();
?>
--EXPECTF--
seed %d
ValueError: bloom_cache_scan(): Argument #2 ($count) must be %s
ValueError: bloom_cache_scan(): Argument #2 ($count) must be %s
ValueError: bloom_cache_scan(): Argument #2 ($count) must be %s
int(5)
int(2000)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

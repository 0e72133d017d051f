--TEST--
bloom_status()['last_error'] keeps what went wrong last
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/status_last_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

show_thrown(fn () => bloom_reserve('f', 100_000_000, expansion: 0));
$error = bloom_status()['last_error'];
var_dump(is_string($error) && $error !== '', bloom_status()['available']);
// Whatever throws it.
$calls = [
    fn () => bloom_load('f', []),
    fn () => bloom_load_file('f', __DIR__ . '/no such file'),
    fn () => bloom_cache_set('k', STDIN),
];
foreach ($calls as $call) {
    try {
        $call();
        echo "nothing thrown\n";
    } catch (BloomShm\Exception $e) {
        check_same($e->getMessage(), bloom_status()['last_error'], 'the last error');
    }
}
done();
?>
--EXPECTF--
BloomShm\Exception NO_SPACE: %s
bool(true)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

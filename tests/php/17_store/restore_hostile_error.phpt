--TEST--
A file whose checksum fits and whose records do not: CORRUPT, or what it says, but no harm
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/restore_hostile_error.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_cache_set_many(['a' => 'text', 'b' => 12345, 'c' => null]);
bloom_cache_dump(scratch());
$sound = file_get_contents(scratch());
mt_srand($seed = 6);
echo "seed $seed\n";
$restored = $refused = 0;
for ($round = 0; $round < 3000; $round++) {
    $bytes = $sound;
    for ($changes = mt_rand(1, 3); $changes > 0; $changes--) {
        $at = mt_rand(16, strlen($bytes) - 9);
        $bytes[$at] = chr(mt_rand(0, 2) === 0 ? 255 : mt_rand(0, 255));
    }
    $check = strrev(hash('xxh3', substr($bytes, 0, -8), true));
    file_put_contents(scratch(), substr($bytes, 0, -8) . $check);
    bloom_cache_clear();
    try {
        bloom_cache_restore(scratch());
        $restored++;
    } catch (BloomShm\Exception $e) {
        check_same('CORRUPT', code_name($e->getCode()), $e->getMessage());
        check_same(0, bloom_cache_info()['records'], 'records');
        $refused++;
        continue;
    }
    try {
        for ($cursor = 0, $steps = 0; $steps === 0 || $cursor !== 0; $steps++) {
            @bloom_cache_scan($cursor);
        }
    } catch (BloomShm\Exception $e) {
        // A record of a serializer that is not loaded.
        check_same('INCOMPATIBLE', code_name($e->getCode()), $e->getMessage());
    }
}
check($refused > 100, "refused $refused, restored $restored");
done();
?>
--EXPECTF--
seed %d
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

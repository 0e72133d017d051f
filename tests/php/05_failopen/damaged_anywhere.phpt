--TEST--
Bits set at random anywhere in the segment: no crash, and never a wrong no
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/damaged_anywhere.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// Bits that are set in a filter make more maybes. Everywhere else they are lies about seeds, sizes and places.
echo Child::run('bloom_load("f", keys("k", 5000)); for ($i = 0; $i < 20; $i++) { bloom_load("g$i", keys("k", 20 * $i + 1)); }');
$sound = file_get_contents(segment());
$file = fopen(segment(), 'r+');
mt_srand($seed = 1234);
echo "seed $seed\n";
$size = strlen($sound);
// Where something stands that is not nought: descriptors, the directory, tables.
$used = array_keys(array_filter(str_split($sound, 64), fn ($line) => trim($line, "\0") !== ''));
$calls = [
    fn () => bloom_list(),
    fn () => bloom_info('f'),
    fn () => bloom_status(),
    fn () => bloom_verify(),
    fn () => bloom_add('f', 'new'),
    fn () => bloom_load('h', keys('b', 3000)),
    fn () => bloom_copy('f', 'h'),
    fn () => bloom_rename('h', 'g3'),
    fn () => bloom_clear('g4'),
    fn () => bloom_drop('g5'),
    fn () => bloom_load('g6', ['b']),
];
for ($round = 0; $round < 250; $round++) {
    for ($hit = mt_rand(1, 8); $hit > 0; $hit--) {
        $at = mt_rand(0, 3) === 0 ? mt_rand(0, $size - 1) : $used[mt_rand(0, count($used) - 1)] * 64 + mt_rand(0, 63);
        $bytes = substr($sound, $at, mt_rand(1, 16));
        fseek($file, $at);
        fwrite($file, $bytes | str_repeat(chr(mt_rand(0, 1) ? 0xff : 1 << mt_rand(0, 7)), strlen($bytes)));
    }
    if (pcntl_fork() === 0) {
        $denied = count_no('f', keys('k', 300));
        for ($i = 0; $i < 20; $i++) {
            $denied += count_no("g$i", keys('k', 20 * $i + 1));
        }
        foreach ($calls as $call) {
            try {
                $call();
            } catch (BloomShm\Exception) {
                // Refused: as good as an answer.
            }
        }
        $denied += count_no('f', keys('k', 300));
        posix_kill(posix_getpid(), $denied === 0 ? SIGTERM : SIGKILL);
    }
    pcntl_wait($status);
    check(pcntl_wtermsig($status) === SIGTERM, "round $round: signal " . pcntl_wtermsig($status));
    fseek($file, 0);
    fwrite($file, $sound);
}
var_dump(count_no('f', keys('k', 5000)));
done();
?>
--EXPECTF--
seed %d
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
Any byte of the segment's head changed: no crash, and never a wrong no
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/header_bytes.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// The segment is made by a child: this process stays unattached, so that each fork attaches the changed file.
echo Child::run('bloom_load("f", keys("k", 50)); bloom_reserve("g", 10, expansion: 0); bloom_add("g", "a");');
$sound = file_get_contents(segment());
$file = fopen(segment(), 'r+');
$put = function (int $at, string $bytes) use ($file) {
    fseek($file, $at);
    fwrite($file, $bytes);
};
$ask = function () {
    $denied = count_no('f', keys('k', 50)) + count_no('g', ['a']);
    $calls = [
        fn () => bloom_list(),
        fn () => bloom_info('f'),
        fn () => bloom_status(),
        fn () => bloom_verify(),
        fn () => bloom_load('h', ['b']),
        fn () => bloom_drop('g'),
    ];
    foreach ($calls as $call) {
        try {
            $call();
        } catch (BloomShm\Exception) {
            // Refused: as good as an answer.
        }
    }
    return $denied;
};
$refused = 0;
for ($at = 0; $at < 320; $at++) {
    $put($at, ~$sound[$at]);
    if (pcntl_fork() === 0) {
        posix_kill(posix_getpid(), $ask() === 0 ? (bloom_status()['available'] ? SIGTERM : SIGHUP) : SIGKILL);
    }
    pcntl_wait($status);
    $signal = pcntl_wtermsig($status);
    check($signal === SIGTERM || $signal === SIGHUP, "byte $at changed: signal $signal");
    $refused += (int) ($signal === SIGHUP);
    $put(0, $sound);
}
check($refused >= 16, "$refused changes were refused");
var_dump(bloom_maybe_has('f', 'k1'), bloom_maybe_has('f', 'absent'));
done();
?>
--EXPECT--
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

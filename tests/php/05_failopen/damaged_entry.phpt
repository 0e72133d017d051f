--TEST--
Bytes changed around a filter's entry: maybe, not ready, and bloom_verify() sees it
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/damaged_entry.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

echo Child::run('bloom_load("a rather unusual name", keys("k", 100)); bloom_load("other", ["o"]);');
$sound = file_get_contents(segment());
$name = strpos($sound, 'a rather unusual name');
check($name !== false, 'the name is in the file');
$file = fopen(segment(), 'r+');
$seen = ['doubted' => 0, 'found by bloom_verify()' => 0];
for ($at = $name - 72; $at < $name + 384; $at++) {
    fseek($file, $at);
    fwrite($file, ~$sound[$at]);
    if (pcntl_fork() === 0) {
        $denied = count_no('a rather unusual name', keys('k', 100)) + count_no('other', ['o']);
        $doubted = bloom_maybe_has('a rather unusual name', 'absent');
        $denied += (int) ($doubted && bloom_ready('a rather unusual name'));
        $found = bloom_verify() !== [];
        bloom_info('a rather unusual name');
        bloom_drop('a rather unusual name');
        try {
            bloom_load('a rather unusual name', keys('new ', 100));
            $denied += count_no('a rather unusual name', keys('new ', 100));
        } catch (BloomShm\Exception) {
            // Refused: as good as an answer.
        }
        posix_kill(posix_getpid(), [SIGTERM, SIGHUP, SIGUSR1, SIGUSR2][2 * (int) $doubted + (int) $found] * (int) ($denied === 0) ?: SIGKILL);
    }
    pcntl_wait($status);
    $signal = pcntl_wtermsig($status);
    check(in_array($signal, [SIGTERM, SIGHUP, SIGUSR1, SIGUSR2], true), 'byte ' . $at - $name . ": signal $signal");
    $seen['doubted'] += (int) in_array($signal, [SIGUSR1, SIGUSR2], true);
    $seen['found by bloom_verify()'] += (int) in_array($signal, [SIGHUP, SIGUSR2], true);
    fseek($file, 0);
    fwrite($file, $sound);
}
foreach ($seen as $what => $count) {
    check($count >= 64, "$what: $count");
}
var_dump(bloom_maybe_has('a rather unusual name', 'k1'), bloom_maybe_has('a rather unusual name', 'absent'));
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

--TEST--
Bytes changed in the records of a filter's older layers: maybe, and bloom_verify() sees it
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/damaged_layers.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

echo Child::run('bloom_reserve("f", 100); bloom_add_many("f", keys("k", 12000)); bloom_load("other", ["o"]);');
$sound = file_get_contents(segment());
$layers = bloom_info('f')['layers'];
var_dump(count($layers));
$file = fopen(segment(), 'r+');
$doubted = $bytes = 0;
foreach (array_slice($layers, 0, -1) as $i => $layer) {
    // A record: first partition and count, the run's checksum, capacity, the keys before it, ...
    $record = strpos($sound, pack('VPP', $layer['partitions'], 0, $layer['capacity'])) - 4;
    check($record > 0 && $record % 64 === 0, "the record of layer $i");
    for ($at = $record; $at < $record + 64; $at++) {
        fseek($file, $at);
        fwrite($file, ~$sound[$at]);
        if (pcntl_fork() === 0) {
            // Nothing that was resolved before: as a process that comes anew.
            bloom_rename('other', 'again');
            $wrong = count_no('f', keys('k', 12000)) + count_no('again', ['o']);
            $maybe = bloom_maybe_has('f', 'absent') && !bloom_ready('f') && bloom_info('f') === null;
            $found = bloom_verify() !== [];
            $wrong += (int) (bloom_add('f', 'later') && !bloom_maybe_has('f', 'later'));
            bloom_add_many('f', keys('more ', 20000));
            bloom_clear('f');
            posix_kill(posix_getpid(), $wrong !== 0 ? SIGKILL : ($maybe && $found ? SIGTERM : SIGUSR1));
        }
        pcntl_wait($status);
        $signal = pcntl_wtermsig($status);
        check(in_array($signal, [SIGTERM, SIGUSR1], true), "layer $i, byte " . $at - $record . ": signal $signal");
        $doubted += (int) ($signal === SIGTERM);
        $bytes++;
        fseek($file, 0);
        fwrite($file, $sound);
    }
}
check_same($bytes, $doubted, 'bytes whose change was seen');
check_same(0, count_no('f', keys('k', 12000)), 'denied');
done();
?>
--EXPECT--
int(3)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

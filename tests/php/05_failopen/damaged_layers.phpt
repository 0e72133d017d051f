--TEST--
Bytes changed in the records of a filter's older layers: maybe, and bloom_verify() sees it
--EXTENSIONS--
bloomshm
posix
pcntl
--INI--
bloomshm.path={PWD}/damaged_layers.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// This process does not look at the filter: what it has resolved, its children would have too.
$code = 'bloom_reserve("f", 100); bloom_add_many("f", keys("k", 12000)); bloom_load("other", ["o"]); echo json_encode(bloom_info("f"));';
$layers = json_decode(Child::run($code), true)['layers'];
var_dump(count($layers));
$sound = file_get_contents(segment());
$file = fopen(segment(), 'r+');
$doubted = $bytes = 0;
foreach (array_slice($layers, 0, -1) as $i => $layer) {
    // The number of partitions, the run's checksum and the capacity, behind the first partition's number. The last
    // place with these, for descriptors have a layer too.
    $record = strrpos($sound, pack('VPP', $layer['partitions'], 0, $layer['capacity'])) - 4;
    check($record > 0 && $record % 64 === 0, "the record of layer $i");
    for ($at = $record; $at < $record + 64; $at++) {
        fseek($file, $at);
        fwrite($file, ~$sound[$at]);
        if (pcntl_fork() === 0) {
            bloom_rename('other', 'again');
            $wrong = count_no('f', keys('k', 12000)) + count_no('again', ['o']);
            $maybe = bloom_maybe_has('f', 'absent') && !bloom_ready('f') && bloom_info('f') === null;
            $found = bloom_verify() !== [];
            $wrong += (int) (bloom_add('f', 'later') && !bloom_maybe_has('f', 'later'));
            bloom_add_many('f', keys('more ', 20000));
            $wrong += (int) !str_contains(thrown_by(fn () => bloom_clear('f')), ' CORRUPT: ');
            bloom_load('f', keys('new ', 5000));
            $wrong += count_no('f', keys('new ', 5000)) + count(bloom_verify());
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

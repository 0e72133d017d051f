--TEST--
A restored sliding filter has aged by the wall-clock time that passed
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/restore_aged.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// Changes bytes of a dump and makes its checksums fit again: what a hostile writer would do.
$forge = function (string $file, int $at, string $bytes): string {
    $file = substr_replace($file, $bytes, $at, strlen($bytes));
    $check = fn (int $from, int $length): string => strrev(hash('xxh3', substr($file, $from, $length), true));
    $file = substr_replace($file, $check(0, 184), 184, 8);
    return substr_replace($file, $check(192, 56), 248, 8);
};

bloom_reserve('f', 1000, window: 36000);
bloom_add_many('f', keys('k', 300));
bloom_dump('f', scratch('.sound'));
$sound = file_get_contents(scratch('.sound'));
$dumped = unpack('e', $sound, 56)[1];
check(abs($dumped - microtime(true)) < 600, 'the time of the dump is in the file');
// The file says that it was made so many seconds earlier. Up to the window all keys are found, after 4/3 of it none.
foreach ([0 => 300, 11900 => 300, 23900 => 300, 35800 => 300, 48001 => 0, 100_000 => 0, 1_000_000_000 => 0] as $seconds => $expected) {
    file_put_contents(scratch(), $forge($sound, 56, pack('e', $dumped - $seconds)));
    bloom_restore('g', scratch());
    check_same($expected, count_yes('g', keys('k', 300)), "after $seconds seconds");
    check_same($expected !== 0, bloom_info('g')['items'] > 0, "items after $seconds seconds");
    // Whatever its age, it goes on.
    check(bloom_add('g', 'new') && bloom_maybe_has('g', 'new'), "an add after $seconds seconds");
    check_same($expected, count_yes('g', keys('k', 300)), "after $seconds seconds and an add");
}
// A clock that was set back: no time has passed, and none is taken away.
file_put_contents(scratch(), $forge($sound, 56, pack('e', $dumped + 1_000_000)));
bloom_restore('g', scratch());
check_same(300, count_yes('g', keys('k', 300)), 'with a clock set back');
// Aging goes on from dump to dump.
$age = function (int $seconds) use ($forge): void {
    bloom_dump('g', scratch());
    $file = file_get_contents(scratch());
    file_put_contents(scratch(), $forge($file, 56, pack('e', unpack('e', $file, 56)[1] - $seconds)));
    bloom_restore('g', scratch());
};
$age(17000);
check_same(300, count_yes('g', keys('k', 300)), 'aged once');
$age(17000);
check_same(300, count_yes('g', keys('k', 300)), 'aged twice');
bloom_add('g', 'refreshed');
$age(15000);
check_same(0, count_yes('g', keys('k', 300)), 'aged three times');
check(bloom_maybe_has('g', 'refreshed'), 'the refreshed key');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

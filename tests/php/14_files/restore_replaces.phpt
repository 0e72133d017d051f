--TEST--
bloom_restore() replaces what has the name, in one step; its readers see one set or the other
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/restore_replaces.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', [...keys('common ', 1000), ...keys('file ', 1000)], 0.000001, seed: 'fixed');
bloom_dump('f', scratch('.file'));
bloom_load('f', [...keys('common ', 1000), ...keys('live ', 1000)], 0.000001, seed: 'fixed');
bloom_dump('f', scratch('.live'));
start_going();
$reader = new Child(<<<'PHP'
    echo "here\n";
    for ($asked = 0; going(); $asked++) {
        $answers = bloom_maybe_has_many('f', ['common 1', 'common 999', 'file 1', 'file 2', 'live 1', 'live 2', 'common 500']);
        $answers[0] && $answers[1] && $answers[6] && $answers[2] === $answers[3] && $answers[4] === $answers[5]
            && $answers[2] !== $answers[4] || die('mixed: ' . json_encode($answers) . "\n");
    }
    echo $asked > 0 ? "sound\n" : "nothing asked\n";
    PHP);
$reader->hear();
// For the reader to tell the sets apart, none of its keys may be a wrong yes.
check_same(0, count_yes('f', ['file 1', 'file 2']), 'wrong answers');
$generation = bloom_info('f')['generation'];
for ($i = 0; $i < 200; $i++) {
    bloom_restore('f', scratch($i % 2 ? '.live' : '.file'));
    check_same(0, count_no('f', keys($i % 2 ? 'live ' : 'file ', 1000)), "round $i: denied");
}
stop_going();
echo $reader->hear(), "\n";
$reader->end();
check(bloom_info('f')['generation'] > $generation, 'generation');
// Another kind in its place.
bloom_reserve('c', 10, counting: true);
bloom_add('c', 'counted');
bloom_dump('c', scratch('.counting'));
var_dump(bloom_restore('f', scratch('.counting')), bloom_count('f', 'counted'), bloom_info('f')['type']);
bloom_drop('f');
bloom_drop('c');
check_same(bloom_status()['filter_bytes'], free_bytes(), 'free bytes');
done();
?>
--EXPECT--
sound
bool(true)
int(1)
string(8) "counting"
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
Those who ask while a filter grows never get a wrong no
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/grow_readers.seg
bloomshm.filter_memory=4M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('golden ', 3000));
$readers = [];
start_going();
for ($i = 0; $i < 2; $i++) {
    $readers[] = $reader = new Child(<<<'PHP'
        echo "here\n";
        $golden = keys('golden ', 3000);
        $layers = [];
        for ($asked = 0; going(); $asked++) {
            foreach ($golden as $key) {
                bloom_maybe_has('f', $key) || die("denied $key\n");
            }
            in_array(false, bloom_maybe_has_many('f', $golden), true) && die("denied one of many\n");
            $layers[count(bloom_info('f')['layers'] ?? [])] = true;
        }
        check($asked > 0 && !isset($layers[0]), 'a growing filter can always be described');
        echo "never\n";
        PHP);
    $reader->hear();
}
for ($round = 0; $round < 6; $round++) {
    patiently(fn () => bloom_add_many('f', keys("round $round ", 40000)));
    bloom_load('f', keys('golden ', 3000));
    foreach (keys("again $round ", 20000) as $key) {
        patiently(fn () => bloom_add('f', $key));
    }
}
stop_going();
foreach ($readers as $reader) {
    echo $reader->hear(), "\n";
    $reader->end();
}
done();
?>
--EXPECT--
never
never
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

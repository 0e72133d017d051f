--TEST--
Dumps of a filter that others add to, grow and clear: each is sound, and has what was there before it began
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/dump_concurrent.seg
bloomshm.filter_memory=16M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('f', 100);
bloom_add_many('f', keys('golden ', 2000));
start_going();
$adder = new Child(<<<'PHP'
    echo "here\n";
    for ($i = 0; going() && $i < 300; $i++) {
        patiently(fn () => bloom_add_many('f', keys("$i-", 500)));
        usleep(500);
    }
    PHP);
$adder->hear();
for ($i = 0; $i < 15; $i++) {
    patiently(fn () => bloom_add('f', "before $i"));
    $bytes = bloom_dump('f', scratch());
    clearstatcache();
    check_same(filesize(scratch()), $bytes, 'bytes');
    check_same(true, bloom_restore('g', scratch()), 'bloom_restore()');
    check_same(0, count_no('g', [...keys('golden ', 2000), "before $i"]), "dump $i: denied");
    $info = bloom_info('g');
    check($info['items'] >= 2000 && $info['items'] <= bloom_info('f')['items'] + 100, "items: {$info['items']}");
}
stop_going();
$adder->end();
check_same([], glob(dirname(scratch()) . '/.bloomshm.*.tmp'), 'temporary files');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

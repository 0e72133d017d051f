--TEST--
A loader killed in the middle: the old filter stays, the memory comes back
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_killed.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', keys('old ', 1000));
$before = bloom_info('f');
$free = free_bytes();
foreach ([null, 50000] as $capacity) {
    foreach (['f', 'g'] as $name) {
        $loader = new Child(sprintf(<<<'PHP'
            bloom_load(%s, (function () {
                yield from keys('new ', 50000);
                echo "half\n";
                fgets(STDIN);
            })(), capacity: %s);
            PHP, var_export($name, true), var_export($capacity, true)));
        check_same('half', $loader->hear(), 'the loader');
        $loader->kill();
        check_same($free, free_bytes(), 'free bytes');
        check_same(1, bloom_status()['attached'], 'attached');
    }
}
check_same($before, bloom_info('f'), 'the filter');
var_dump(bloom_list(), count_no('f', keys('old ', 1000)), bloom_maybe_has('g', 'x'));
bloom_load('f', ['next']);
var_dump(bloom_maybe_has('f', 'next'), bloom_maybe_has('f', 'old 1'));
done();
?>
--EXPECT--
array(1) {
  [0]=>
  string(1) "f"
}
int(0)
bool(true)
bool(true)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

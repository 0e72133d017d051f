--TEST--
A stopped loader is not a dead one: its memory is not taken
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_living_loader.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$free = free_bytes();
$loader = new Child(<<<'PHP'
    bloom_load('f', (function () {
        yield from keys('k', 20000);
        echo "half\n";
        fgets(STDIN);
        yield from keys('more ', 20000);
    })(), capacity: 40000, seed: 'fixed');
    echo "loaded\n";
    PHP);
check_same('half', $loader->hear(), 'the loader');
// All that is free is taken, used and given back, several times.
for ($round = 0; $round < 3; $round++) {
    check(reserve_largest('all') > 0, 'room');
    check_same([], bloom_verify(), 'bloom_verify()');
    bloom_add_many('all', keys("$round ", 20000));
    bloom_drop('all');
}
$loader->say('go on');
check_same('loaded', $loader->hear(), 'the loader');
$loader->end();
var_dump(count_no('f', [...keys('k', 20000), ...keys('more ', 20000)]));
check(count_yes('f', keys('absent ', 20000)) < 400, 'no bits of others are in it');
bloom_drop('f');
check_same($free, free_bytes(), 'free bytes');
done();
?>
--EXPECT--
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
Keys that another process adds while a first load runs are in the published filter
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_adds_by_others_first.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$loader = new Child(<<<'PHP'
    bloom_load('f', (function () {
        yield from keys('new ', 5000);
        echo "half\n";
        fgets(STDIN);
        yield 'last';
    })(), 0.000001, seed: 'fixed');
    echo "loaded\n";
    PHP);
check_same('half', $loader->hear(), 'the loader');
bloom_add('f', 'added');
bloom_add_many('f', keys('many ', 100));
var_dump(bloom_maybe_has('f', 'absent'));
$loader->say('go on');
check_same('loaded', $loader->hear(), 'the loader');
var_dump(bloom_maybe_has('f', 'absent'), count_no('f', ['added', ...keys('many ', 100), ...keys('new ', 5000), 'last']));
$loader->end();
done();
?>
--EXPECT--
bool(true)
bool(false)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

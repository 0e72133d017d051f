--TEST--
Keys that another process adds while a load runs are in the published filter
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_adds_by_others.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$loader = new Child(<<<'PHP'
    bloom_load('f', (function () {
        yield from keys('new ', 5000);
        echo "half\n";
        fgets(STDIN);
        yield from keys('more ', 5000);
    })(), 0.000001, seed: 'fixed');
    echo "loaded\n";
    PHP);
bloom_load('f', ['old'], 0.000001, seed: 'old');
check_same('half', $loader->hear(), 'the loader');
bloom_add_many('f', keys('added ', 2000));
var_dump(bloom_maybe_has_many('f', ['old', 'added 1', 'new 1']));
$loader->say('go on');
check_same('loaded', $loader->hear(), 'the loader');
var_dump(bloom_maybe_has_many('f', ['old', 'added 1', 'new 1']));
var_dump(count_no('f', [...keys('new ', 5000), ...keys('more ', 5000), ...keys('added ', 2000)]));
$loader->end();
done();
?>
--EXPECT--
array(3) {
  [0]=>
  bool(true)
  [1]=>
  bool(true)
  [2]=>
  bool(false)
}
array(3) {
  [0]=>
  bool(false)
  [1]=>
  bool(true)
  [2]=>
  bool(true)
}
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

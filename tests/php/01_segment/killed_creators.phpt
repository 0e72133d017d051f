--TEST--
Creators killed at any moment leave no file behind and hang no other process
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/killed_creators.seg
bloomshm.filter_memory=1M
--SKIPIF--
<?php
if (getenv('SKIP_SLOW_TESTS') !== false) { die('skip slow'); }
?>
--FILE--
<?php
require __DIR__ . '/../helper.inc';

for ($i = 0; $i < 20; $i++) {
    $child = new Child('echo "here\n"; bloom_reserve("f", 10, expansion: 0); fgets(STDIN);');
    $child->hear();
    for ($spin = 0; $spin < $i * 2000; $spin++) {
        // a little later each time
    }
    $child->kill();
    if ($i % 3 === 0) {
        remove(segment());
    }
}
remove(segment());
var_dump(bloom_reserve('f', 10, expansion: 0));
check_same(['killed_creators.seg'], array_values(preg_grep('/^\.?killed_creators\.seg/', scandir(__DIR__))), 'files');
done();
?>
--EXPECT--
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
Two processes load one name at once: each publishes a whole set, the later one stands
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_two_processes.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$code = <<<'PHP'
    bloom_load('f', (function () {
        $name = trim(fgets(STDIN));
        yield from keys("$name ", 2000);
        echo "half\n";
        fgets(STDIN);
        yield from keys("$name more ", 2000);
    })(), 0.000001, seed: 'fixed');
    echo "loaded\n";
    PHP;
$loaders = ['one' => new Child($code), 'two' => new Child($code)];
foreach ($loaders as $name => $loader) {
    $loader->say($name);
}
foreach ($loaders as $loader) {
    check_same('half', $loader->hear(), 'the loader');
}
$loaders['two']->say('go on');
check_same('loaded', $loaders['two']->hear(), 'the loader');
var_dump(count_no('f', [...keys('two ', 2000), ...keys('two more ', 2000)]), count_yes('f', keys('one ', 2000)));
$loaders['one']->say('go on');
check_same('loaded', $loaders['one']->hear(), 'the loader');
var_dump(count_no('f', [...keys('one ', 2000), ...keys('one more ', 2000)]), count_yes('f', keys('two ', 2000)));
array_map(fn ($loader) => $loader->end(), $loaders);
done();
?>
--EXPECT--
int(0)
int(0)
int(0)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

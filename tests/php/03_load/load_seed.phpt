--TEST--
Loads with the same seed make the same filter, others do not
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_seed.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$wrong = fn (string $filter) => array_keys(array_filter(bloom_maybe_has_many($filter, keys('absent ', 20000))));
foreach (['one' => 'a seed', 'same' => 'a seed', 'other' => 'another', 'random' => null, 'random too' => null] as $name => $seed) {
    bloom_load($name, keys('k', 20000), 0.1, 20000, seed: $seed);
}
var_dump(count($wrong('one')) > 100);
var_dump($wrong('one') === $wrong('same'));
var_dump($wrong('one') === $wrong('other'));
var_dump($wrong('one') === $wrong('random'));
var_dump($wrong('random') === $wrong('random too'));
done();
?>
--EXPECT--
bool(true)
bool(true)
bool(false)
bool(false)
bool(false)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

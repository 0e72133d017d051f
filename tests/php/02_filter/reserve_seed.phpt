--TEST--
A seed makes filters alike, no seed makes each its own
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/reserve_seed.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// The wrong answers of a filter tell its seed: hundreds of these keys are taken for members.
$wrong = fn (string $filter) => array_keys(array_filter(bloom_maybe_has_many($filter, keys('absent ', 20000))));

foreach (['one' => 'a seed', 'same' => 'a seed', 'other' => 'another', 'random' => null, 'random too' => null] as $name => $seed) {
    bloom_reserve($name, 20000, 0.1, 0, seed: $seed);
    bloom_add_many($name, keys('k', 20000));
}
var_dump(count($wrong('one')) > 200);
var_dump($wrong('one') === $wrong('same'));
var_dump($wrong('one') === $wrong('other'));
var_dump($wrong('one') === $wrong('random'));
var_dump($wrong('random') === $wrong('random too'));
// The longest seeds, binary: every byte counts.
bloom_reserve('long', 10, expansion: 0, seed: str_repeat("\0", 64));
show_thrown(
    fn () => bloom_reserve('long', 10, expansion: 0, seed: str_repeat("\0", 64)),
    fn () => bloom_reserve('long', 10, expansion: 0, seed: str_repeat("\0", 63)),
    fn () => bloom_reserve('long', 10, expansion: 0, seed: str_repeat("\0", 63) . "\1"),
);
done();
?>
--EXPECTF--
bool(true)
bool(true)
bool(false)
bool(false)
bool(false)
nothing thrown, returned false
BloomShm\Exception EXISTS: %s
BloomShm\Exception EXISTS: %s
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_fetch_many(): records first, then the filter, then one call of the loader for all that is open
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/fetch_many.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_load('f', ['a', 'b', 'c', '', '12', '-3', '1.5', 'nothing', 'null']);
$calls = [];
$load = function (...$arguments) use (&$calls) {
    $calls[] = $arguments;
    $values = [];
    foreach ($arguments[0] as $key) {
        if ($key !== 'nothing') {
            $values[$key] = $key === 'null' ? null : "value of $key";
        }
    }
    return $values;
};
$fetches = fn () => array_values(bloom_info('f')['fetches']);
$denied = array_values(array_filter(keys('absent ', 50), fn (string $key) => !bloom_maybe_has('f', $key)));

// One record is there; the filter denies two keys; four are loaded by one call, with only them.
bloom_fetch('f', 'b', fn () => 'stored');
$questions = bloom_info('f')['questions'];
check_same(
    ['value of a', null, 'stored', null, 'value of ', null, null],
    bloom_fetch_many('f', ['a', $denied[0], 'b', $denied[1], '', 'nothing', 'null'], $load),
    'a page',
);
check_same([[['a', '', 'nothing', 'null']]], $calls, 'the arguments of the only call');
// asked, denied, found, loaded, confirmed
check_same([8, 2, 1, 3, 2], $fetches(), 'what is counted');
check_same([7, 2], [bloom_info('f')['questions'] - $questions, bloom_info('f')['false_positives']], 'questions');
// All of it is stored, for the call with one key too, and for other processes.
check_same(['value of a', null, null], bloom_fetch_many('f', ['a', 'nothing', 'null'], $load), 'again');
check_same(['value of a', null], [bloom_fetch('f', 'a', $load), bloom_fetch('f', 'null', $load)], 'one by one');
echo Child::run('var_dump(bloom_fetch_many("f", ["a", "nothing"], fn () => print("called\n")));');
check_same(1, count($calls), 'calls');

// Any array keys, any key types; a key that comes again is loaded once.
$calls = [];
check_same(
    ['x' => 'value of 12', 7 => 'value of -3', 3 => 'value of 1.5', 'y' => 'value of 12', 'z' => null],
    bloom_fetch_many('f', ['x' => 12, 7 => -3, 3 => 1.5, 'y' => '12', 'z' => $denied[0]], $load),
    'a map',
);
check_same([[['12', '-3', '1.5']]], $calls, 'each key once, as a string');
check_same([8 + 7 + 5, 2 + 1, 1 + 7 + 1, 3 + 3, 2], $fetches(), 'a key that comes again was found');
check_same(['value of 12'], bloom_fetch_many('f', [12], $load), 'an int');
$holes = ['a', 'b', 'c'];
unset($holes[1]);
check_same([0 => 'value of a', 2 => 'value of c'], bloom_fetch_many('f', $holes, $load), 'an array with a hole');
check_same(['value of c'], bloom_fetch_many('f', [new class { function __toString() { return 'c'; } }], $load), 'a Stringable');

// Nothing to ask: no call.
$calls = [];
check_same([], bloom_fetch_many('f', [], $load), 'the empty list');
check_same(['p' => null, 'q' => null], bloom_fetch_many('f', ['p' => $denied[0], 'q' => $denied[1]], $load), 'all denied');
check_same([], $calls, 'no call');

// Values keep their type; false is one.
$values = ['a1' => false, 'a2' => 0, 'a3' => '', 'a4' => [], 'a5' => 1.5, 'a6' => (object) ['x' => 1]];
bloom_insert('f', array_keys($values));
for ($i = 0; $i < 2; $i++) {
    $got = bloom_fetch_many('f', array_keys($values), fn () => $i === 0 ? $values : print("called again\n"));
    check(serialize(array_values($values)) === serialize($got), "values of each type, $i");
}
// What is loaded more than was asked for is no answer, and is not stored.
bloom_insert('f', ['asked', 'more']);
check_same(['yes'], bloom_fetch_many('f', ['asked'], fn () => ['more' => 'no', 5 => 'no', 'asked' => 'yes', 'Asked' => 'no']), 'more than was asked for');
check_same('loaded', bloom_fetch('f', 'more', fn () => 'loaded'), 'it was not stored');
// References in the result, and in the keys.
bloom_insert('f', ['r', 's']);
$value = 'by reference';
$key = 'r';
check_same(['by reference'], bloom_fetch_many('f', [&$key], function () use (&$value, &$key) {
    $key = 's';
    return ['r' => &$value];
}), 'by reference');
check_same('by reference', bloom_fetch('f', 'r', $load), 'stored under the key that was asked for');

// What was loaded once is returned, even if a new set does not know it; a new set voids a null.
bloom_load('f', ['other', 'nothing']);
check_same(['value of a', 'value of 12'], bloom_fetch_many('f', ['a', 12], $load), 'records come first');
check_same([null, 'now'], bloom_fetch_many('f', ['null', 'nothing'], fn () => ['nothing' => 'now', 'null' => 'denied before']), 'a null is void');
bloom_drop('f');
check_same(['value of a'], bloom_fetch_many('f', ['a'], $load), 'without a filter, too');
check_same(0, bloom_status()['missing_answers'], 'the filter was not needed');

// More keys than a batch, and longer ones than there is room for.
$many = [...keys('k', 300), str_repeat('long', 2000), str_repeat('x', 65536)];
bloom_load('g', $many);
$calls = [];
check_same(array_map(fn ($key) => "value of $key", $many), bloom_fetch_many('g', $many, $load), '302 keys');
check_same([[$many]], $calls, 'one call');
done();
?>
--EXPECT--
array(2) {
  [0]=>
  string(10) "value of a"
  [1]=>
  NULL
}
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

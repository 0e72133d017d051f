--TEST--
A generator that is left in the middle of its load and destroyed later
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/load_generator_left.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// A fiber that is never resumed: its load ends when the fiber is destroyed.
bloom_load('f', ['old']);
$free = free_bytes();
$fiber = new Fiber(function () {
    bloom_load('f', (function () {
        yield from keys('k', 5000);
        Fiber::suspend();
        yield 'never';
    })(), capacity: 10000);
});
$fiber->start();
var_dump(bloom_maybe_has('f', 'old'), bloom_maybe_has('f', 'k1'));
bloom_load('g', ['meanwhile']);
bloom_drop('g');
unset($fiber);
gc_collect_cycles();
var_dump(free_bytes() === $free, bloom_maybe_has('f', 'old'), bloom_maybe_has('f', 'k1'));

// Two loads that take turns.
$loads = [];
foreach (['a', 'b', 'c'] as $name) {
    $loads[$name] = new Fiber(fn () => bloom_load($name, (function () use ($name) {
        for ($i = 0; $i < 3000; $i++) {
            yield "$name$i";
            if ($i % 500 === 0) {
                Fiber::suspend();
            }
        }
    })()));
    $loads[$name]->start();
}
while ($loads = array_filter($loads, fn ($load) => !$load->isTerminated())) {
    array_map(fn ($load) => $load->resume(), $loads);
}
var_dump(count_no('a', keys('a', 3000)), count_no('b', keys('b', 3000)), count_no('c', keys('c', 3000)));
done();
?>
--EXPECT--
bool(true)
bool(false)
bool(true)
bool(true)
bool(false)
int(0)
int(0)
int(0)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
bloom_cache_remember() inside a loader: the same key just loads, other keys are kept
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/remember_nested.seg
bloomshm.filter_memory=1M
bloomshm.cache_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$at = own_time();
$inner = [];
check_same('outer', bloom_cache_remember('k', function (string $key) use (&$inner) {
    $inner[] = bloom_cache_remember($key, fn () => 'inner 1');
    $inner[] = bloom_cache_remember($key, fn (string $key) => bloom_cache_remember($key, fn () => 'innermost'));
    return 'outer';
}), 'the outer value');
check_same(['inner 1', 'innermost'], $inner, 'the inner values');
check_same('outer', bloom_cache_remember('k', fn () => 'never'), 'what is kept');

// Other keys, deep: more than a process can load at once, if there is a limit.
$deep = function (string $key) use (&$deep) {
    $n = (int) substr($key, 5);
    return $n === 0 ? [0] : [$n, ...bloom_cache_remember('deep ' . $n - 1, $deep)];
};
check_same(range(200, 0), bloom_cache_remember('deep 200', $deep), 'nested 200 deep');
check_same(range(77, 0), bloom_cache_get('deep 77'), 'an inner one is kept');
check_same(201 + 1, bloom_cache_info()['records'], 'records');

// The loader may do what it likes with the store, the same key included.
check_same('outer', bloom_cache_remember('l', function () {
    bloom_cache_set('l', 'inner');
    bloom_cache_increment('n');
    return 'outer';
}), 'a loader that sets its key');
check(in_array(bloom_cache_get('l'), ['inner', 'outer'], true), 'one of the two is kept');
check_same('outer', bloom_cache_remember('m', function () {
    bloom_cache_clear();
    return 'outer';
}), 'a loader that clears the store');

// An exception that is caught inside.
check_same('caught', bloom_cache_remember('o', function () {
    try {
        return bloom_cache_remember('p', fn () => throw new LogicException());
    } catch (LogicException) {
        return 'caught';
    }
}), 'caught');
check(bloom_cache_has('o') && !bloom_cache_has('p'), 'what is kept of it');

// A fiber that is left in the middle of a load: it cannot end while this call waits.
$fiber = new Fiber(fn () => bloom_cache_remember('q', fn () => Fiber::suspend() . 'by the fiber'));
$fiber->start();
check_same('by main', bloom_cache_remember('q', fn () => 'by main'), 'while a fiber loads');
$fiber->resume('');
check(in_array(bloom_cache_remember('q', fn () => 'never'), ['by main', 'by the fiber'], true), 'what is kept then');
check(own_time() - $at < 3, 'no call waited');
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

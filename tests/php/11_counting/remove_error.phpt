--TEST--
bloom_remove() and bloom_count() of what is missing, does not count, or is damaged
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/remove_error.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

bloom_reserve('fixed', 10, expansion: 0);
bloom_reserve('scalable', 10);
bloom_reserve('sliding', 10, window: 60);
bloom_load('loaded', ['a']);
foreach (['missing', 'fixed', 'scalable', 'sliding', 'loaded'] as $name) {
    show_thrown(fn () => bloom_remove($name, 'a'), fn () => bloom_count($name, 'a'));
}
show_thrown(
    fn () => bloom_remove('', 'a'),
    fn () => bloom_count('', 'a'),
    fn () => bloom_remove('f', []),
    fn () => bloom_count('f', new stdClass()),
    fn () => bloom_remove('f'),
);
// The policy is for questions and adds only, and these count no answers.
foreach (['maybe', 'warn', 'throw'] as $policy) {
    echo Child::run(<<<'PHP'
        show_thrown(fn () => bloom_remove('missing', 'a'), fn () => bloom_count('missing', 'a'));
        check_same(0, bloom_status()['missing_answers'], 'missing_answers');
        PHP, ['bloomshm.missing_filter' => $policy]);
}
done();
?>
--EXPECTF--
BloomShm\Exception NOT_FOUND: filter "missing" %s
BloomShm\Exception NOT_FOUND: filter "missing" %s
BloomShm\Exception INCOMPATIBLE: filter "fixed" does not count%S
BloomShm\Exception INCOMPATIBLE: filter "fixed" does not count%S
BloomShm\Exception INCOMPATIBLE: filter "scalable" does not count%S
BloomShm\Exception INCOMPATIBLE: filter "scalable" does not count%S
BloomShm\Exception INCOMPATIBLE: filter "sliding" does not count%S
BloomShm\Exception INCOMPATIBLE: filter "sliding" does not count%S
BloomShm\Exception INCOMPATIBLE: filter "loaded" does not count%S
BloomShm\Exception INCOMPATIBLE: filter "loaded" does not count%S
ValueError: bloom_remove(): Argument #1 ($filter) must be %s
ValueError: bloom_count(): Argument #1 ($filter) must be %s
TypeError: bloom_remove(): Argument #2 ($key) must be of type string, array given
TypeError: bloom_count(): Argument #2 ($key) must be of type string, stdClass given
ArgumentCountError: bloom_remove() expects exactly 2 arguments, 1 given
BloomShm\Exception NOT_FOUND: filter "missing" %s
BloomShm\Exception NOT_FOUND: filter "missing" %s
BloomShm\Exception NOT_FOUND: filter "missing" %s
BloomShm\Exception NOT_FOUND: filter "missing" %s
BloomShm\Exception NOT_FOUND: filter "missing" %s
BloomShm\Exception NOT_FOUND: filter "missing" %s
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

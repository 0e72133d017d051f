--TEST--
Two processes see each other's filters at once
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/two_processes.seg
bloomshm.filter_memory=1M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

$child = new Child(<<<'PHP'
    while (($line = fgets(STDIN)) !== false) {
        echo json_encode(eval('return ' . $line . ';')), "\n";
    }
    PHP);
$ask = function (string $expression) use ($child) {
    $child->say($expression);
    return json_decode($child->hear());
};

bloom_reserve('f', 100, expansion: 0);
check_same(true, $ask('bloom_ready("f")'), 'the child sees a reserved filter');
check_same(false, $ask('bloom_maybe_has("f", "a")'), 'empty');
bloom_add('f', 'a');
check_same(true, $ask('bloom_maybe_has("f", "a")'), 'the child sees an added key');
check_same(true, $ask('bloom_add("f", "b")'), 'the child adds one');
check_same(true, bloom_maybe_has('f', 'b'), 'which is seen here');
check_same(2, bloom_info('f')['items'], 'items');

$ask('bloom_load("f", ["x", "y"])');
check_same([false, false, true, true], bloom_maybe_has_many('f', ['a', 'b', 'x', 'y']), 'the child loads anew');
bloom_rename('f', 'g');
check_same([true, true], $ask('bloom_maybe_has_many("f", ["x", "z"])'), 'renamed away: all is maybe');
check_same([true, false], $ask('bloom_maybe_has_many("g", ["x", "z"])'), 'the new name answers');
$ask('bloom_copy("g", "h")');
check_same(['g', 'h'], bloom_list(), 'the child copies');
bloom_clear('g');
check_same(false, $ask('bloom_maybe_has("g", "x")'), 'cleared here, empty there');
bloom_drop('g');
bloom_drop('h');
check_same([], $ask('bloom_list()'), 'dropped');
check_same(true, $ask('bloom_maybe_has("g", "z")'), 'and all is maybe again');
$child->end();
done();
?>
--EXPECT--
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>

--TEST--
Many filters asked in turn: each answers for itself
--EXTENSIONS--
bloomshm
--INI--
bloomshm.path={PWD}/maybe_has_names.seg
bloomshm.filter_memory=4M
--FILE--
<?php
require __DIR__ . '/../helper.inc';

// More names than any small table of resolved names holds, with common prefixes, equal lengths, equal contents.
$names = [];
for ($i = 0; $i < 300; $i++) {
    $names[] = sprintf('%s%03d', str_repeat('n', $i % 60), $i);
}
foreach ($names as $name) {
    bloom_reserve($name, 10, expansion: 0);
    bloom_add($name, "key of $name");
}
$wrong = 0;
for ($round = 0; $round < 3; $round++) {
    foreach ($names as $i => $name) {
        $next = $names[($i + 1) % 300];
        $wrong += (int) !bloom_maybe_has($name, "key of $name");
        $wrong += (int) bloom_maybe_has($name, "key of $next");
        $wrong += (int) !bloom_maybe_has($next, "key of $next");
    }
}
var_dump($wrong);
// One string variable whose bytes change: what counts is the name, not where it stands in memory.
bloom_reserve('aa', 10, expansion: 0);
bloom_reserve('ab', 10, expansion: 0);
bloom_add('aa', 'x');
$name = 'aa';
var_dump(bloom_maybe_has($name, 'x'));
$name[1] = 'b';
var_dump(bloom_maybe_has($name, 'x'));
$name[1] = 'a';
var_dump(bloom_maybe_has($name, 'x'));
done();
?>
--EXPECT--
int(0)
bool(true)
bool(false)
bool(true)
done
--CLEAN--
<?php
require __DIR__ . '/../helper.inc';
clean_up(__FILE__);
?>
